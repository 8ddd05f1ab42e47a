/**
 * The metaschemas of draft-04, -06, -07, 2019-09 and 2020-12 with their vocabularies, so that
 * schemas may refer to them without a document. They are facts of the public specifications
 * (json-schema.org), written as data, without titles, descriptions, defaults and comments, which
 * constrain nothing.
 */

type Json = boolean | number | string | Json[] | { [key: string]: Json }

const string: Json = { type: "string" }
const boolean: Json = { type: "boolean" }
const number: Json = { type: "number" }
const uriReference: Json = { type: "string", format: "uri-reference" }
const pattern: Json = { type: "string", format: "regex" }
const positive: Json = { type: "number", exclusiveMinimum: 0 }
const simpleTypes: Json = {
  enum: ["array", "boolean", "integer", "null", "number", "object", "string"],
}
const ref = (to: string): Json => ({ $ref: to })
const each = (names: string, schema: Json) =>
  Object.fromEntries(names.split(" ").map((name) => [name, schema]))
const mapOf = (schema: Json): Json => ({ type: "object", additionalProperties: schema })
const typeOf = (simple: Json): Json => ({
  anyOf: [simple, { type: "array", items: simple, minItems: 1, uniqueItems: true }],
})

function early(draft: 4 | 6 | 7): Json {
  const self = ref("#")
  const list = ref("#/definitions/schemaArray")
  const count = ref("#/definitions/nonNegativeInteger")
  const count0 = ref(
    `#/definitions/${draft === 4 ? "positiveIntegerDefault0" : "nonNegativeIntegerDefault0"}`,
  )
  const strings = ref("#/definitions/stringArray")
  const size = draft === 4 ? ref("#/definitions/positiveInteger") : count
  const properties: { [key: string]: Json } = {
    ...(draft === 4
      ? { id: string, $schema: string }
      : { $id: uriReference, $schema: { type: "string", format: "uri" } }),
    ...each("title description", string),
    default: draft === 4 ? {} : true,
    multipleOf: draft === 4 ? { type: "number", minimum: 0, exclusiveMinimum: true } : positive,
    ...each("maximum minimum", number),
    ...each("exclusiveMaximum exclusiveMinimum", draft === 4 ? boolean : number),
    ...each("maxLength maxItems maxProperties", size),
    ...each("minLength minItems minProperties", count0),
    pattern,
    additionalItems: draft === 4 ? { anyOf: [boolean, self] } : self,
    additionalProperties: draft === 4 ? { anyOf: [boolean, self] } : self,
    items: { anyOf: [self, list] },
    uniqueItems: boolean,
    required: strings,
    ...each("definitions properties patternProperties", mapOf(self)),
    dependencies: mapOf({ anyOf: [self, strings] }),
    enum: draft === 4 ? { type: "array", minItems: 1, uniqueItems: true } : { type: "array", items: true },
    type: typeOf(ref("#/definitions/simpleTypes")),
    format: string,
    ...each("allOf anyOf oneOf", list),
    not: self,
  }
  if (draft >= 6) {
    Object.assign(properties, { $ref: uriReference, const: true, examples: { type: "array", items: true } })
    Object.assign(properties, each("contains propertyNames", self))
    properties.patternProperties = { ...(mapOf(self) as object), propertyNames: { format: "regex" } }
  }
  if (draft === 7) {
    Object.assign(properties, each("if then else", self), each("readOnly writeOnly", boolean))
    Object.assign(properties, each("$comment contentMediaType contentEncoding", string))
  }
  const uri = `http://json-schema.org/draft-0${draft}/schema#`
  const nonNegative: Json = { type: "integer", minimum: 0 }
  return {
    ...(draft === 4 ? { id: uri } : { $id: uri }),
    $schema: uri,
    definitions: {
      schemaArray: { type: "array", minItems: 1, items: self },
      ...(draft === 4
        ? { positiveInteger: nonNegative, positiveIntegerDefault0: ref("#/definitions/positiveInteger") }
        : {
            nonNegativeInteger: nonNegative,
            nonNegativeIntegerDefault0: { allOf: [count, { default: 0 }] },
          }),
      simpleTypes,
      stringArray: {
        type: "array",
        items: string,
        uniqueItems: true,
        ...(draft === 4 ? { minItems: 1 } : {}),
      },
    },
    type: draft === 4 ? "object" : ["object", "boolean"],
    properties,
    ...(draft === 4
      ? { dependencies: { exclusiveMaximum: ["maximum"], exclusiveMinimum: ["minimum"] } }
      : { default: true }),
  }
}

const uriText: Json = { type: "string", format: "uri" }

/**
 * Returns the vocabularies of 2019-09 (`late` false) or 2020-12 as name → properties and
 * definitions.
 */
function vocabularies(late: boolean): Record<string, { properties: Record<string, Json>; $defs?: Json }> {
  const self: Json = late ? { $dynamicRef: "#meta" } : { $recursiveRef: "#" }
  const anchor: Json = {
    type: "string",
    pattern: late ? "^[A-Za-z_][-A-Za-z0-9._]*$" : "^[A-Za-z][-A-Za-z0-9.:_]*$",
  }
  const list = ref("#/$defs/schemaArray")
  const lists = { schemaArray: { type: "array", minItems: 1, items: self } }
  const count = ref("#/$defs/nonNegativeInteger")
  const count0 = ref("#/$defs/nonNegativeIntegerDefault0")
  const strings = ref("#/$defs/stringArray")
  const noFragment: Json = { type: "string", format: "uri-reference", pattern: "^[^#]*#?$" }
  const anchorString = late ? ref("#/$defs/anchorString") : anchor
  const reference = late ? ref("#/$defs/uriReferenceString") : uriReference
  const core: Record<string, Json> = {
    $id: late ? { allOf: [reference, { pattern: "^[^#]*#?$" }] } : noFragment,
    $schema: late ? ref("#/$defs/uriString") : uriText,
    $anchor: anchorString,
    $ref: reference,
    ...(late
      ? { $dynamicRef: reference, $dynamicAnchor: anchorString }
      : { $recursiveRef: uriReference, $recursiveAnchor: boolean }),
    $vocabulary: {
      type: "object",
      propertyNames: late ? ref("#/$defs/uriString") : uriText,
      additionalProperties: boolean,
    },
    $comment: string,
    $defs: mapOf(self),
  }
  const unevaluated: Record<string, Json> = each("unevaluatedItems unevaluatedProperties", self)
  const applicator: Record<string, Json> = {
    ...(late
      ? { prefixItems: list, items: self }
      : { additionalItems: self, items: { anyOf: [self, list] } }),
    ...each("contains additionalProperties propertyNames if then else not", self),
    ...each("properties dependentSchemas", mapOf(self)),
    patternProperties: { ...(mapOf(self) as object), propertyNames: { format: "regex" } },
    ...each("allOf anyOf oneOf", list),
    ...(late ? {} : unevaluated),
  }
  const format = { properties: { format: string } }
  return {
    core: {
      properties: core,
      ...(late
        ? { $defs: { anchorString: anchor, uriString: uriText, uriReferenceString: uriReference } }
        : {}),
    },
    applicator: { properties: applicator, $defs: lists },
    ...(late ? { unevaluated: { properties: unevaluated } } : {}),
    validation: {
      properties: {
        type: typeOf(ref("#/$defs/simpleTypes")),
        const: true,
        enum: { type: "array", items: true },
        multipleOf: positive,
        ...each("maximum exclusiveMaximum minimum exclusiveMinimum", number),
        ...each("maxLength maxItems maxProperties maxContains", count),
        ...each("minLength minItems minProperties", count0),
        minContains: { ...(count as object), default: 1 },
        pattern,
        uniqueItems: boolean,
        required: strings,
        dependentRequired: mapOf(strings),
      },
      $defs: {
        nonNegativeInteger: { type: "integer", minimum: 0 },
        nonNegativeIntegerDefault0: { ...(count as object), default: 0 },
        simpleTypes,
        stringArray: { type: "array", items: string, uniqueItems: true, default: [] },
      },
    },
    "meta-data": {
      properties: {
        ...each("title description", string),
        default: true,
        ...each("deprecated readOnly writeOnly", boolean),
        examples: { type: "array", items: true },
      },
    },
    ...(late ? { "format-annotation": format, "format-assertion": format } : { format }),
    content: {
      properties: { ...each("contentMediaType contentEncoding", string), contentSchema: self },
    },
  }
}

function modern(draft: "2019-09" | "2020-12", add: (uri: string, schema: Json) => void): void {
  const late = draft === "2020-12"
  const base = `https://json-schema.org/draft/${draft}`
  const self: Json = late ? { $dynamicRef: "#meta" } : { $recursiveRef: "#" }
  const dynamic: Record<string, Json> = late ? { $dynamicAnchor: "meta" } : { $recursiveAnchor: true }
  const type = ["object", "boolean"]
  const used: string[] = []
  const vocabulary: Record<string, boolean> = {}
  for (const [name, content] of Object.entries(vocabularies(late))) {
    const uri = `${base}/vocab/${name}`
    add(`${base}/meta/${name}`, {
      $schema: `${base}/schema`,
      $id: `${base}/meta/${name}`,
      $vocabulary: { [uri]: true },
      ...dynamic,
      type,
      ...content,
    })
    if (name === "format-assertion") continue
    used.push(name)
    vocabulary[uri] = name !== "format"
  }
  add(`${base}/schema`, {
    $schema: `${base}/schema`,
    $id: `${base}/schema`,
    $vocabulary: vocabulary,
    ...dynamic,
    allOf: used.map((name) => ref(`meta/${name}`)),
    type,
    properties: {
      definitions: mapOf(self),
      dependencies: mapOf({ anyOf: [self, ref("meta/validation#/$defs/stringArray")] }),
      ...(late
        ? {
            $recursiveAnchor: ref("meta/core#/$defs/anchorString"),
            $recursiveRef: ref("meta/core#/$defs/uriReferenceString"),
          }
        : {}),
    },
  })
}

let texts: Map<string, string> | null = null

/**
 * Returns the JSON text of a bundled metaschema by its URI without fragment, `http` or `https`, or
 * null for other URIs.
 */
export function metaschemaText(uri: string): string | null {
  if (texts === null) {
    const map = new Map<string, string>()
    const add = (name: string, schema: Json) => {
      map.set(name.replace(/^https/, "http"), JSON.stringify(schema))
    }
    for (const draft of [4, 6, 7] as const) add(`http://json-schema.org/draft-0${draft}/schema`, early(draft))
    modern("2019-09", add)
    modern("2020-12", add)
    texts = map
  }
  return texts.get(uri.replace(/^https/, "http")) ?? null
}
