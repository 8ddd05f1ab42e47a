/**
 * Nasty schemas of the keywords that combine schemas, and of references.
 */
import { among, chain, type Generators, letter, letters, nested, repeat, whole } from "./generator.ts"

export const logicSchemas: Generators = {
  deep: (random, size) =>
    nested(20 + 45 * size, (inner) =>
      random() < 0.5
        ? { type: "object", properties: { [letter(random)]: inner }, required: [letter(random)] }
        : { type: "array", items: inner, minItems: 1 },
    ),
  allOf: (random, size) => ({
    type: "object",
    allOf: repeat(4 * (size + 1), (i) => ({
      anyOf: repeat(2 + whole(random, 3), (j) => ({
        properties: { [`a${i}`]: { type: among(random, ["string", "integer", "null"]) } },
        required: [`${letter(random)}${i}${j}`],
      })),
    })),
  }),
  // Sizes grow by the power: an inner schema is copied.
  anyOf: (random, size) =>
    nested(2 + (size >> 1), (inner) => ({
      anyOf: repeat(3 + whole(random, 3), (i) => ({
        type: "object",
        properties: { k: { type: "string", maxLength: 40 - i }, [`n${i}`]: inner },
      })),
    })),
  oneOf: (random, size) =>
    nested(2 + whole(random, 2), (inner) => ({
      oneOf: repeat(4 + 6 * size, (i) => ({
        type: "object",
        properties: { k: { type: "string", minLength: i }, [`p${i}`]: { type: "integer" }, next: inner },
      })),
    })),
  not: (random, size) =>
    nested(2 + size, (inner) => ({
      not: {
        ...{ type: "object", properties: { [letter(random)]: inner }, required: [letter(random)] },
        not: { required: [letter(random), letter(random)] },
      },
    })),
  "if-then-else": (random, size) =>
    nested(3 + size, (inner) => ({
      ...{ type: "object", if: { properties: { [letter(random)]: { const: whole(random, 3) } } } },
      ...{
        then: { required: [letter(random)], properties: { n: inner } },
        else: { properties: { m: inner } },
      },
    })),
  "many ifs": (random, size) => ({
    type: "object",
    properties: { kind: { enum: repeat(20 * (size + 1), (i) => `kind ${i}`) } },
    required: ["kind"],
    allOf: repeat(20 * (size + 1), (i) => ({
      if: { properties: { kind: { const: `kind ${i}` } } },
      // biome-ignore format: one alternative a line
      then: { properties: { [`v${i % 7}`]: { type: among(random, ["string", "integer"]) } }, required: [`v${i % 7}`] },
    })),
  }),
  references: (random, size) => ({
    $ref: "#/$defs/d0",
    $defs: chain(10 * (size + 1), (_, next) => ({
      ...{ type: "object", required: random() < 0.3 ? ["a"] : [] },
      properties: { a: next(1), b: next(1 + whole(random, 4)), c: next(whole(random, 40)) },
    })),
  }),
  "reference cycles": (random, size) => ({
    $ref: "#/$defs/d0",
    $defs: chain(8 + 4 * size, (_, next) => ({
      anyOf: [
        { allOf: [next(1), next(2)] },
        { type: "array", items: next(whole(random, 9)), minItems: 1 },
        ...(random() < 0.5 ? [{ not: next(3) }] : [{ type: "integer" }]),
      ],
    })),
  }),
  "reference chain": (_, size) => ({
    $ref: "#/$defs/d0",
    $defs: {
      ...chain(1_000 * (size + 1), (_, next) => next(1)),
      [`d${1_000 * (size + 1) - 1}`]: { type: "integer" },
    },
  }),
  dynamicRef: (random, size) => ({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    ...{ $id: "urn:attack:tree", $dynamicAnchor: "node", type: "object" },
    properties: Object.fromEntries(
      repeat(2 + size, (i) => [`${letter(random)}${i}`, { type: "array", items: { $dynamicRef: "#node" } }]),
    ),
    unevaluatedProperties: false,
  }),
  "expression tree": (random, size) => ({
    $ref: "#/$defs/e",
    $defs: {
      e: {
        oneOf: [
          { type: "number" },
          ...repeat(6 + 4 * size, (i) => ({
            type: "object",
            properties: {
              op: { const: `op${i}` },
              left: { $ref: "#/$defs/e" },
              ...(random() < 0.7 && { right: { $ref: "#/$defs/e" } }),
            },
            required: ["op", "left"],
            additionalProperties: random() < 0.5,
          })),
        ],
      },
    },
  }),
  "open expression tree": (_, size) => ({
    $ref: "#/$defs/e",
    $defs: {
      e: {
        oneOf: repeat(2 + size, (i) => ({
          type: "object",
          properties: {
            l: { $ref: "#/$defs/e" },
            r: { $ref: "#/$defs/e" },
            v: { type: "string", minLength: i },
          },
          required: i % 2 ? ["v"] : [],
        })),
      },
    },
  }),
  GeoJSON: (random, size) => {
    const position = { type: "array", items: { type: "number" }, minItems: 2, maxItems: 2 + whole(random, 3) }
    const arrays = (depth: number) =>
      repeat(depth, (i) => i).reduce<unknown>((items) => ({ type: "array", items, minItems: 1 }), position)
    const shape = (name: string, properties: object) => ({
      ...{ type: "object", required: ["type", ...Object.keys(properties)] },
      properties: {
        type: { const: name },
        bbox: { type: "array", items: { type: "number" } },
        ...properties,
      },
    })
    return {
      $ref: "#/$defs/g",
      $defs: {
        g: {
          oneOf: [
            ...repeat(4 + 2 * size, (i) => shape(`Shape${i}`, { coordinates: arrays(i % 5) })),
            shape("GeometryCollection", { geometries: { type: "array", items: { $ref: "#/$defs/g" } } }),
          ],
        },
      },
    }
  },
  "dependent schemas": (random, size) => ({
    type: "object",
    dependentSchemas: Object.fromEntries(
      repeat(6 * (size + 1), (i) => [
        `${letter(random)}${i}`,
        { required: [`b${i}`], properties: { [`c${i}`]: { minimum: i } }, maxProperties: 40 },
      ]),
    ),
    dependentRequired: Object.fromEntries(repeat(10 * size, (i) => [`b${i}`, letters(random, 2)])),
  }),
}
