/** Constraints of many kinds with values that satisfy them, for warming up. */

export interface Sample {
  readonly schema: unknown
  readonly values: readonly unknown[]
}

/** The samples with names and bounds of their own for each `round`. */
export function samples(round: number): Sample[] {
  const n = (name: string) => (round === 0 ? name : `${name}_${round}`)
  const text = { type: "string" }
  return [
    {
      schema: {
        type: "object",
        properties: {
          [n("name")]: text,
          [n("age")]: { type: "integer", minimum: 0, maximum: 150 + round },
          [n("email")]: { type: "string", format: "email" },
          [n("isActive")]: { type: "boolean" },
          [n("tags")]: { type: "array", items: text, maxItems: 5 + round },
          [n("address")]: {
            type: "object",
            properties: {
              [n("street")]: text,
              [n("city")]: text,
              zip: { type: "string", pattern: `^[0-9]{5,${6 + round}}$` },
            },
            required: [n("city")],
          },
        },
        required: [n("name"), n("age")],
      },
      values: [
        {
          [n("name")]: "Ada Lovelace",
          [n("age")]: 36,
          [n("email")]: "ada.lovelace@example.com",
          [n("isActive")]: true,
          [n("tags")]: ["math", "engines", "a longer tag"],
          [n("address")]: { [n("street")]: "12 St James's Square", [n("city")]: "London", zip: "10115" },
        },
      ],
    },
    {
      schema: {
        type: "object",
        additionalProperties: false,
        properties: {
          id: { type: "string", format: "uuid" },
          kind: { enum: [n("user"), n("service"), "bot"] },
          [n("created")]: { type: "string", format: "date-time" },
          day: { type: "string", format: "date" },
          site: { type: "string", format: "uri" },
          host: { type: "string", format: "hostname", maxLength: 100 + round },
          [n("score")]: { type: "number", minimum: -1.5, exclusiveMaximum: 99.5 + round },
          step: { type: "number", multipleOf: 0.25 },
          note: { type: ["string", "null"], maxLength: 200 + round },
        },
        required: ["id", "kind"],
      },
      values: [
        {
          id: "123e4567-e89b-12d3-a456-426614174000",
          kind: "bot",
          [n("created")]: "2024-02-29T10:20:30Z",
          day: "2023-12-01",
          site: "https://example.com/path/to/page?q=1",
          host: "www.example.com",
          [n("score")]: 12.75,
          step: 1.25,
          note: "No news is good news.",
        },
        { id: "00000000-0000-4000-8000-000000000000", kind: n("user"), note: null },
      ],
    },
    {
      schema: {
        type: "array",
        minItems: 1,
        items: {
          anyOf: [
            {
              type: "object",
              properties: { [n("type")]: { const: "text" }, body: text },
              required: [n("type"), "body"],
            },
            {
              type: "object",
              properties: {
                [n("type")]: { const: "image" },
                width: { type: "integer" },
                height: { type: "integer" },
              },
              required: [n("type")],
            },
          ],
        },
      },
      values: [
        [
          { [n("type")]: "text", body: "Hello, world!" },
          { [n("type")]: "image", width: 640, height: 480 },
        ],
      ],
    },
    {
      schema: {
        $ref: "#/$defs/node",
        $defs: {
          node: {
            type: "object",
            properties: {
              [n("value")]: { type: "integer" },
              [n("children")]: { type: "array", items: { $ref: "#/$defs/node" } },
            },
            required: [n("value")],
          },
        },
      },
      values: [
        { [n("value")]: 1, [n("children")]: [{ [n("value")]: 2 }, { [n("value")]: 3, [n("children")]: [] }] },
      ],
    },
    {
      schema: {
        type: "object",
        properties: {
          [n("version")]: { type: "string", pattern: `^[0-9]+\\.[0-9]+(\\.[0-9]{1,${3 + round}})?$` },
        },
        patternProperties: { [`^x-[a-z]{1,${9 + round}}$`]: text, _id$: { type: "integer" } },
        additionalProperties: { type: "array", items: { type: "number" } },
      },
      values: [{ [n("version")]: "1.20.3", "x-note": "private", user_id: 17, [n("series")]: [1, 2.5, -3e2] }],
    },
    {
      schema: {
        type: "object",
        properties: {
          [n("slug")]: { type: "string", pattern: `^[a-z0-9]+(-[a-z0-9]+){0,${5 + round}}$` },
          path: { type: "string", pattern: "^(/[^/ ]+)+$" },
          [n("words")]: { type: "string", pattern: `^(\\S+\\s+){0,${20 + round}}\\S+$` },
          contains: { type: "string", pattern: `foo|${n("bar")}` },
          short: { type: "string", minLength: 2, maxLength: 12 + round },
        },
      },
      values: [
        {
          [n("slug")]: "a-fine-slug",
          path: "/usr/local/bin",
          [n("words")]: "some words in a row",
          contains: "there is foo in it",
          short: "short one",
        },
      ],
    },
    {
      schema: {
        allOf: [
          { type: "object", properties: { [n("mode")]: { enum: ["fast", "slow"] } }, required: [n("mode")] },
          {
            if: { properties: { [n("mode")]: { const: "fast" } } },
            // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
            then: { properties: { [n("limit")]: { type: "integer" } }, required: [n("limit")] },
            else: { properties: { [n("reason")]: text } },
          },
        ],
        propertyNames: { maxLength: 20 + round },
      },
      values: [
        { [n("mode")]: "fast", [n("limit")]: 3 },
        { [n("mode")]: "slow", [n("reason")]: "it rains" },
      ],
    },
    {
      schema: {
        oneOf: [
          { type: "object", properties: { [n("a")]: text }, required: [n("a")], additionalProperties: false },
          {
            type: "object",
            properties: { [n("b")]: { type: "integer" } },
            required: [n("b")],
            additionalProperties: false,
          },
          { type: "array", items: { enum: [1, 2, 3 + round] }, uniqueItems: true },
        ],
      },
      values: [{ [n("a")]: "x" }, { [n("b")]: 12 }, [1, 2]],
    },
    {
      schema: {
        type: "object",
        properties: { [n("data")]: true, [n("count")]: { type: "integer" } },
        dependentRequired: { [n("count")]: [n("data")] },
        minProperties: 1,
      },
      values: [{ [n("data")]: { any: ["thing", { goes: null }], at: 1.5 }, [n("count")]: 2, other: "text" }],
    },
    {
      schema: true,
      values: [{ [n("free")]: [1, "two", { three: false }], text: 'é ü 漢字 \u2028 "quoted" \\ \n' }],
    },
  ]
}
