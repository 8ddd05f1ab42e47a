/** Values of which a part is not written yet. */

/** A value of which any part may be missing. */
export type DeepPartial<Value> = Value extends readonly (infer Item)[]
  ? number extends Value["length"]
    ? DeepPartial<Item>[]
    : { [Index in keyof Value]?: DeepPartial<Value[Index]> }
  : Value extends object
    ? { [Name in keyof Value]?: DeepPartial<Value[Name]> }
    : Value

/** Sets an own member, whatever its name is; `__proto__` too. */
export function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") object[name] = value
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
}
