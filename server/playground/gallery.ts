/** Examples of every kind of constraint, each with a conversation that asks for it. */
import { defaultOptions, type Kind, type Options, type Setup } from "./setup.ts"

export interface Example {
  name: string
  setup: Setup
}

function example(
  name: string,
  [kind, text]: readonly [Kind, string | object],
  question: string,
  { check = "", ...options }: Partial<Options> & { check?: string } = {},
): Example {
  const source = typeof text === "string" ? text : JSON.stringify(text, null, 2)
  const messages = [{ role: "user" as const, content: question }]
  return { name, setup: { kind, text: source, messages, options: { ...defaultOptions, ...options }, check } }
}

function object(properties: Record<string, unknown>, required = Object.keys(properties)): object {
  return { type: "object", properties, required, additionalProperties: false }
}

const text = (maxLength: number): object => ({ type: "string", minLength: 1, maxLength })
const money = { type: "number", minimum: 0, maximum: 10_000, multipleOf: 0.01 }

const weather = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Returns the weather of a town.",
    parameters: object({ town: text(24), unit: { enum: ["celsius", "fahrenheit"] } }),
  },
}

const meeting = {
  type: "function",
  function: {
    name: "add_meeting",
    description: "Adds a meeting to the calendar.",
    parameters: object({
      title: text(24),
      date: { type: "string", format: "date" },
      minutes: { type: "integer", minimum: 15, maximum: 240, multipleOf: 15 },
    }),
  },
}

const arithmetic = `root   ::= term (" + " term | " - " term){1,3} " = " number
term   ::= number | "(" number " * " number ")"
number ::= [1-9] [0-9]{0,2} | "0"
`

const chess = `# Three moves of a game of chess
root   ::= "1. " move " " move "\\n2. " move " " move "\\n3. " move " " move
move   ::= (pawn | piece | castle) [+#]?
pawn   ::= ([a-h] "x")? [a-h] [1-8] ("=" [NBRQ])?
piece  ::= [NBRQK] [a-h]? [1-8]? "x"? [a-h] [1-8]
castle ::= "O-O" | "O-O-O"
`

const list = `root ::= "# " line "\\n\\n" item{2,4}
item ::= "- [" [ x] "] " line "\\n"
line ::= [A-Za-z0-9] [A-Za-z0-9 ,.]{2,30}
`

const sql = `// A SELECT over two tables; only their columns can be named
start: "SELECT " columns " FROM " from (" WHERE " condition)? (" ORDER BY " column (" DESC")?)? (" LIMIT " INT)? ";"
columns: "*" | column (", " column)~0..3
from: "customers" | "orders" | "orders JOIN customers ON orders.customer_id = customers.id"
condition: test ((" AND " | " OR ") test)~0..2
test: column " = " value | column " > " INT | column " IS NOT NULL"
column: "customers.id" | "customers.name" | "customers.country" | "orders.id" | "orders.total" | "orders.created_at"
value: INT | TEXT
INT: /[1-9][0-9]{0,4}/
TEXT: /'[A-Za-z ]{1,16}'/
`

const csv = `// A table of three columns
start: "name,age,country\\n" row~2..4
row: NAME "," AGE "," COUNTRY "\\n"
NAME: /[A-Z][a-z]{1,10}/
AGE: /[1-9][0-9]/
COUNTRY: /[A-Z]{2}/
`

const color = `start: "#" HEX~3 | "#" HEX~6 | "rgb(" BYTE ", " BYTE ", " BYTE ")"
HEX: /[0-9a-f]/
BYTE: /25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9]/
`

const thinking = {
  type: "sequence",
  elements: [
    {
      type: "tag",
      begin: "<think>",
      content: { type: "regex", pattern: "[A-Za-z0-9 ,.]{8,80}" },
      end: "</think>",
    },
    { type: "json_schema", json_schema: object({ answer: { enum: ["yes", "no"] } }) },
  ],
}

const triggered = {
  type: "triggered_tags",
  triggers: ["<date>"],
  tags: [
    {
      type: "tag",
      begin: "<date>",
      content: { type: "regex", pattern: "20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9])" },
      end: "</date>",
    },
  ],
  at_least_one: true,
  stop_after_first: true,
}

const comments = {
  $ref: "#/$defs/comment",
  $defs: {
    comment: object({
      author: text(12),
      text: text(40),
      replies: { type: "array", items: { $ref: "#/$defs/comment" }, maxItems: 2 },
    }),
  },
}

const shapes = {
  oneOf: [
    object({ shape: { const: "circle" }, radius: { type: "integer", minimum: 1, maximum: 99 } }),
    object({
      shape: { const: "rectangle" },
      width: { type: "integer", minimum: 1, maximum: 99 },
      height: { type: "integer", minimum: 1, maximum: 99 },
    }),
  ],
}

const receipt = object({
  shop: text(24),
  date: { type: "string", format: "date" },
  items: { type: "array", items: object({ name: text(20), price: money }), minItems: 1, maxItems: 4 },
  total: money,
  currency: { enum: ["EUR", "USD", "GBP"] },
})

export const gallery: readonly Example[] = [
  example(
    "Receipt",
    ["json", receipt],
    "Read this receipt: CORNER SHOP 2 May 2026, milk 1.20, bread 2.80, total 4.00 euro.",
    {
      check: '{"shop": "Corner Shop", "date": "2026-05-02", "items": [{"name": "Milk", "price": 1.2',
    },
  ),
  example(
    "Contact",
    [
      "json",
      object({
        name: text(24),
        email: { type: "string", format: "email", maxLength: 40 },
        tags: { type: "array", items: { enum: ["friend", "work", "family"] }, uniqueItems: true },
      }),
    ],
    "Make a contact for Ada, whom I know from work.",
    { check: '{"name": "Ada", "email": "ada@', temperature: 0.7 },
  ),
  example("Shapes, one of two", ["json", shapes], "Describe a shape.", {
    check: '{"shape": "circle", "width"',
  }),
  example("Thread of comments", ["json", comments], "Write a short discussion about tea.", {
    maxTokens: 400,
  }),
  example(
    "Settings with a condition",
    [
      "json",
      {
        ...object({ plan: { enum: ["free", "paid"] }, seats: { type: "integer", minimum: 1, maximum: 500 } }),
        if: { properties: { plan: { const: "free" } } },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { properties: { seats: { maximum: 3 } } },
      },
    ],
    "Choose a plan for a team.",
    { check: '{"plan": "free", "seats": 4' },
  ),
  example(
    "Numbers within a budget",
    ["json", { type: "array", items: { type: "integer", minimum: 0, maximum: 999 }, minItems: 3 }],
    "Write numbers.",
    { onLength: "close", maxTokens: 24, check: "[1, 2" },
  ),
  example("Date", ["regex", "20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"], "When was it?", {
    check: "2026-13",
  }),
  example(
    "IPv4 address",
    ["regex", String.raw`((25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(25[0-5]|2[0-4]\d|1?\d?\d)`],
    "Name an address.",
    { check: "192.168.0.256" },
  ),
  example(
    "Version",
    ["regex", String.raw`(0|[1-9]\d{0,2})(\.(0|[1-9]\d{0,2})){2}(-(alpha|beta|rc)\.\d)?`],
    "Which version?",
    {
      check: "1.02.3",
    },
  ),
  example(
    "Password rules, by lookahead",
    ["regex", String.raw`(?=.*\d)(?=.*[A-Z])[A-Za-z\d]{8,12}`],
    "Make a code.",
    {
      check: "abcdefgh",
    },
  ),
  example("Sum", ["gbnf", arithmetic], "Write a sum.", { check: "12 + (3 * 4" }),
  example("Chess", ["gbnf", chess], "Play the first moves of a game.", { check: "1. e4 e5\n2. Nf3 Nc9" }),
  example("List of tasks", ["gbnf", list], "Plan a birthday.", { check: "# Birthday\n\n- [x] Cake\n" }),
  example("SQL query", ["lark", sql], "Which customers ordered most?", {
    check: "SELECT customers.name FROM orders WHERE orders.price",
  }),
  example("CSV table", ["lark", csv], "List three people.", { check: "name,age,country\nAda,36,GB\nAlan,9" }),
  example("Colour", ["lark", color], "Name a colour.", { check: "rgb(255, 256" }),
  example("Thoughts, then JSON", ["tag", thinking], "Is water wet?", {
    check: "<think>Water is a liquid.</think>{",
  }),
  example("Dates inside of text", ["tag", triggered], "When do we meet?", {
    check: "We meet on <date>2026-5",
  }),
  example("Mood", ["choice", "positive\nneutral\nnegative"], "I love this shop!", { check: "posi" }),
  example("Two tools", ["tools", [weather, meeting]], "What is the weather in Oslo?"),
]

/** The text that the editor of a kind begins with. */
export function starterOf(kind: Kind): string {
  return gallery.find(({ setup }) => setup.kind === kind)?.setup.text ?? ""
}
