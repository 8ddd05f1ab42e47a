/**
 * Values that are partly unwritten.
 */

/** A value of which any part may be missing. */
export type DeepPartial<Value> = Value extends readonly (infer Item)[]
  ? number extends Value["length"]
    ? DeepPartial<Item>[]
    : { [Index in keyof Value]?: DeepPartial<Value[Index]> }
  : Value extends object
    ? { [Name in keyof Value]?: DeepPartial<Value[Name]> }
    : Value

/** Sets a member of its own whatever the name is, `__proto__` included. */
export function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") object[name] = value
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
}
