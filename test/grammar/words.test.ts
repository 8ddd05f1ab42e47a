/** What is expected after a prefix, in words: exact sentences. */
import { expect, test } from "vitest"
import { compile, type GrammarInput } from "../../grammar/index.ts"
import { bindGrammar, Matcher, Vocabulary } from "../../mask/index.ts"

const everyByte = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))
const bytes = Vocabulary.fromBytes([...everyByte, null], { endIds: [256] })

function wordsAfter(input: GrammarInput, prefix: string): string {
  const matcher = new Matcher(bindGrammar(compile(input).grammar, bytes))
  expect(matcher.acceptBytes(new TextEncoder().encode(prefix)), prefix).toBe(true)
  return matcher
    .explain()
    .map(({ what, path }) => (path === "" ? what : `${what} (${path})`))
    .join(" | ")
}

const closed = (members: string, required = '["a"]') =>
  `{"type":"object","properties":{${members}},"required":${required},"additionalProperties":false}`

test.each<[prefix: string, schema: string, words: string]>([
  ["", '{"type":"integer","minimum":1}', "an integer ≥ 1"],
  ["-", '{"type":"number","maximum":-1}', "the rest of a number ≤ -1"],
  ["", '{"type":"integer","minimum":1,"maximum":99}', "an integer from 1 to 99"],
  ["", '{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1}', "a number > 0 and < 1"],
  ["", '{"type":"number","multipleOf":0.5,"minimum":10}', "a multiple of 0.5 ≥ 10"],
  ["", '{"type":"integer","const":7}', "7"],
  ["", '{"enum":[1,2,3]}', "1, 2 or 3"],
  ["1", '{"enum":[10,20]}', "the rest of 10 or 20"],
  ["", '{"type":"string"}', "a string"],
  ['"', '{"type":"string"}', "more of a string, or its closing quote"],
  [
    "",
    '{"type":"string","pattern":"^[a-z]+$","maxLength":10}',
    "a string that matches ^[a-z]+$ with at most 10 characters",
  ],
  [
    '"ab',
    '{"type":"string","pattern":"^[a-z]+$","maxLength":10}',
    "more of a string that matches ^[a-z]+$ with at most 10 characters, or its closing quote",
  ],
  ['"ab', '{"type":"string","maxLength":2}', "the closing quote of a string with at most 2 characters"],
  ['"', '{"type":"string","minLength":3}', "more of a string with at least 3 characters"],
  ["", '{"type":"string","format":"date"}', "a string in the format date"],
  ["", '{"enum":["red","green","blue"]}', '"red", "green" or "blue"'],
  ['"re', '{"enum":["red","green","blue"]}', 'the rest of "red"'],
  ["", '{"type":"boolean"}', "false or true"],
  ["t", '{"type":"boolean"}', "the rest of true"],
  [
    `"a${"b".repeat(70)}`,
    JSON.stringify({ enum: [`a${"b".repeat(80)}`, `a${"b".repeat(70)}c`, "a"] }),
    `the rest of "a${"b".repeat(57)}… or "a${"b".repeat(57)}…`,
  ],
  [
    `"${"ab".repeat(400)}`,
    JSON.stringify({ enum: ["ab".repeat(401), "b"] }),
    `the rest of "${"ab".repeat(29)}…`,
  ],
  ['{"a', closed('"a":{},"ab":{}', "[]"), 'more of the key "a" or "ab", or its closing quote'],
  ['{"ab', closed('"a":{},"ab":{}', "[]"), "the closing quote of the key"],
  ["", '{"type":["null","integer"]}', "an integer | null"],
  [
    "",
    '{"anyOf":[{"type":"string","maxLength":3},{"type":"number","minimum":0}]}',
    "a string with at most 3 characters | a number ≥ 0",
  ],
  ["", closed('"a":{}'), "an object"],
  ["{", closed('"a":{"type":"integer"}'), 'the key "a"'],
  ['{"', closed('"age":{},"agent":{}', '["agent"]'), 'more of the key "age" or "agent"; "agent" is required'],
  [
    '{"ag',
    closed('"age":{},"agent":{}', '["agent"]'),
    'more of the key "age" or "agent"; "agent" is required',
  ],
  ['{"a"', closed('"a":{"type":"integer","minimum":1}'), '":"'],
  ['{"a":', closed('"a":{"type":"integer","minimum":1}'), "an integer ≥ 1 (/properties/a)"],
  ['{"a":-', closed('"a":{"type":"integer","maximum":1}'), "the rest of an integer ≤ 1 (/properties/a)"],
  ['{"a":1', closed('"a":{"type":"integer"}'), '"}"'],
  [
    '{"a":1',
    closed('"a":{"type":"integer"},"b":{}', '["a","b"]'),
    '",", since the object still needs the key "b"',
  ],
  [
    '{"a":1,',
    closed('"a":{"type":"integer"},"b":{},"c":{}', '["a","c"]'),
    'the key "b" or "c"; "c" is required',
  ],
  ["{", '{"type":"object","additionalProperties":{"type":"integer"},"minProperties":2}', "a key"],
  [
    '{"x":1',
    '{"type":"object","additionalProperties":{"type":"integer"},"minProperties":2}',
    '",", since the object needs at least 2 members',
  ],
  ["", '{"type":"array","items":{"type":"integer"},"minItems":1}', "an array"],
  ["[", '{"type":"array","items":{"type":"integer","minimum":3},"minItems":1}', "an integer ≥ 3 (/items)"],
  [
    "[1",
    '{"type":"array","items":{"type":"integer"},"minItems":3}',
    '",", since the array still needs 2 items',
  ],
  ["[1,2", '{"type":"array","items":{"type":"integer"},"maxItems":2}', '"]"'],
  ["[1,", '{"type":"array","prefixItems":[{"const":1},{"enum":["x","y"]}]}', '"x" or "y" (/prefixItems/1)'],
  [
    '{"a":{"b":"',
    closed('"a":{"type":"object","properties":{"b":{"type":"string","pattern":"^x"}}}'),
    "more of a string that matches ^x (/properties/a/properties/b)",
  ],
  ["12", '{"type":"integer"}', "the end of the text"],
  ["", '{"$ref":"#/$defs/p","$defs":{"p":{"type":"integer","minimum":5}}}', "an integer ≥ 5 (/$defs/p)"],
  ["", '{"allOf":[{"type":"integer"},{"minimum":2},{"maximum":9}]}', "an integer from 2 to 9"],
])("%s in %s", (prefix, schema, words) => {
  expect(wordsAfter({ kind: "json", schema }, prefix)).toBe(words)
})

test.each<[prefix: string, input: GrammarInput, words: string]>([
  ["", { kind: "regex", pattern: "[a-z]+[0-9]" }, "a character in [a-z]"],
  ["a", { kind: "regex", pattern: "[a-z]+[0-9]" }, "a character in [0-9a-z]"],
  ["2024", { kind: "regex", pattern: "\\d{4}-\\d{2}" }, '"-"'],
  ["", { kind: "regex", pattern: '[^"]*"' }, "any character"],
  ["", { kind: "regex", pattern: '[^"x]*z' }, 'any character except "\\"" and "x"'],
  ["", { kind: "regex", pattern: "[\\t\\]\\\\-]x*" }, "a character in [\\t\\-\\\\\\]]"],
  ["le", { kind: "choice", options: ["left", "right"] }, '"ft"'],
  ["", { kind: "choice", options: ["left", "right"] }, '"left" or "right"'],
  ["a", { kind: "gbnf", text: 'root ::= "a" [0-9]+' }, "a character in [0-9]"],
  [
    "1",
    { kind: "gbnf", text: 'root ::= num (" + " num)*\nnum ::= [0-9]+' },
    "the end of the text | a character in [ 0-9]",
  ],
  ["a", { kind: "choice", options: ["a", "ab", "abc"] }, 'the end of the text | "b" or "bc"'],
  ["", { kind: "lark", text: "start: WORD\nWORD: /[a-z]+/" }, "a character in [a-z]"],
  ["ü", { kind: "regex", pattern: "ü[^\\n]" }, "any character"],
])("%s in %j", (prefix, input, words) => {
  expect(wordsAfter(input, prefix)).toBe(words)
})
