/**
 * JSON Schemas for the suite: keywords that combine schemas, references, and whole answers. The
 * form of the text is described in ../schemas.ts.
 */
export const logic = String.raw`
## anyOf

constants: v is 'hello'.
{"anyOf":[{"const":"zz-1"},{"const":99817}]}

objects: v is {"kind": "k1", "b": 18}.
{"anyOf":[{"type":"object","properties":{"kind":{"const":"k1"},"a":{"const":17}},"required":["kind","a"],
"additionalProperties":false},{"type":"object","properties":{"kind":{"const":"k2"},"b":{"const":18}},
"required":["kind","b"],"additionalProperties":false}]}

beside other keywords: v is 'zqqqqqqqqqqqqqqq'.
{"type":"string","maxLength":6,"anyOf":[{"pattern":"^zq+$"},{"pattern":"^w+9$"}]}

of one: v is 'hello'.
{"anyOf":[{"type":"string","enum":["qx-7","wv-3"]}]}

in two levels: v is 'hello'.
{"anyOf":[{"anyOf":[{"const":"a-9"},{"const":"b-9"}]},{"anyOf":[{"const":9119}]}]}

## oneOf

constants: v is 'hello'.
{"oneOf":[{"const":"zz-1"},{"const":99817}]}

that overlap: v is 5.
{"type":"integer","minimum":1,"maximum":12,"oneOf":[{"minimum":1},{"maximum":11}]}

objects: v is {"k": "one", "y": "qx-7"}.
{"oneOf":[{"type":"object","properties":{"k":{"const":"one"},"x":{"type":"string","enum":["qx-7","wv-3"]}},
"required":["k","x"],"additionalProperties":false},{"type":"object","properties":{"k":{"const":"two"},
"y":{"type":"string","enum":["qx-7","wv-3"]}},"required":["k","y"],"additionalProperties":false}]}

## allOf

objects: v is {"a": 1}.
{"type":"object","allOf":[{"properties":{"a":{"type":"string","enum":["qx-7","wv-3"]}},"required":["a"]},
{"properties":{"b":{"const":71}},"required":["b"]}],"maxProperties":2}

bounds: v is 5.
{"type":"integer","allOf":[{"minimum":7001},{"maximum":7003}]}

enums: v is 'q1'.
{"allOf":[{"enum":["q1","q2","q3"]},{"enum":["q3","q4"]}]}

* through $ref: Answer with an object whose only member is v. v is 'zqqqqqqqqqqqqqqqqqq'.
{"$defs":{"short":{"maxLength":4}},"type":"object","properties":{"v":{"allOf":[{"$ref":"#/$defs/short"},
{"type":"string","pattern":"^zq*$"}]}},"required":["v"],"additionalProperties":false}

## not

const: v is 'q1'.
{"enum":["q1","q2"],"not":{"const":"q1"}}

enum: v is 1.
{"type":"integer","minimum":0,"maximum":3,"not":{"enum":[0,1,2]}}

pattern: v is 'abc'.
{"type":"string","minLength":3,"maxLength":6,"not":{"pattern":"[a-z ]"}}

type: v is 'text'.
{"type":["string","integer"],"maxLength":5,"not":{"type":"string"}}

required: v is {"a": "qx-7"}.
{"type":"object","properties":{"a":{"type":"string","enum":["qx-7","wv-3"]},"b":{"type":"string",
"enum":["qx-7","wv-3"]}},"additionalProperties":false,"minProperties":1,"not":{"required":["a"]}}

## if

then: v is {"a": 1, "b": "q1"}.
{"type":"object","properties":{"a":{"enum":[1]},"b":{"enum":["q1","q2","q3","q4"]}},"required":["a","b"],
"additionalProperties":false,"if":{"properties":{"a":{"const":1}}},
"then":{"properties":{"b":{"const":"q4"}}}}

else: v is {"a": 2, "b": "q1"}.
{"type":"object","properties":{"a":{"enum":[2]},"b":{"enum":["q1","q2","q3","q4"]}},"required":["a","b"],
"additionalProperties":false,"if":{"properties":{"a":{"const":1}}},
"else":{"properties":{"b":{"const":"q4"}}}}

then needs a member: v is {"a": 1}.
{"type":"object","properties":{"a":{"const":1},"b":{"type":"string","enum":["qx-7","wv-3"]}},
"required":["a"],"additionalProperties":false,"if":{"required":["a"]},"then":{"required":["b"]}}

## $ref

* into $defs: Answer with an object whose only member is v. v is 'hello'.
{"$defs":{"odd":{"type":"string","enum":["qx-7","wv-3"],"$anchor":"odd"}},"type":"object",
"properties":{"v":{"$ref":"#/$defs/odd"}},"required":["v"],"additionalProperties":false}

* with siblings: Answer with an object whose only member is v. v is 'xyzzyxyzzyxyzzy'.
{"$defs":{"letters":{"type":"string","pattern":"^[xyz]+$"}},"type":"object",
"properties":{"v":{"$ref":"#/$defs/letters","maxLength":3,"minLength":3}},"required":["v"],
"additionalProperties":false}

* through $ref: Answer with an object whose only member is v. v is 'hello'.
{"$defs":{"again":{"$ref":"#/$defs/odd"},"odd":{"type":"string","enum":["qx-7","wv-3"],"$anchor":"odd"}},
"type":"object","properties":{"v":{"$ref":"#/$defs/again"}},"required":["v"],"additionalProperties":false}

* by $anchor: Answer with an object whose only member is v. v is 'hello'.
{"$defs":{"odd":{"type":"string","enum":["qx-7","wv-3"],"$anchor":"odd"}},"type":"object",
"properties":{"v":{"$ref":"#odd"}},"required":["v"],"additionalProperties":false}

* an escaped pointer: Answer with an object whose only member is v. v is 'hello'.
{"$defs":{"a/b%c":{"type":"string","enum":["qx-7","wv-3"]}},"type":"object",
"properties":{"v":{"$ref":"#/$defs/a~1b%25c"}},"required":["v"],"additionalProperties":false}

* a list that refers to itself: Answer with an object whose only member is v. v is {"q": "other"}.
{"$defs":{"node":{"type":"object","properties":{"q":{"type":"string","enum":["qx-7","wv-3"]},
"next":{"anyOf":[{"$ref":"#/$defs/node"},{"type":"null"}]}},"required":["q","next"],
"additionalProperties":false}},"type":"object","properties":{"v":{"$ref":"#/$defs/node"}},"required":["v"],
"additionalProperties":false}

* a tree that refers to itself: Answer with an object whose only member is v. v is {"q": "other"}.
{"$defs":{"tree":{"type":"object","properties":{"q":{"type":"string","enum":["qx-7","wv-3"]},
"kids":{"type":"array","items":{"$ref":"#/$defs/tree"},"maxItems":2}},"required":["q","kids"],
"additionalProperties":false}},"type":"object","properties":{"v":{"$ref":"#/$defs/tree"}},"required":["v"],
"additionalProperties":false}

* two that refer to each other: Answer with an object whose only member is v. v is {"pong": 1}.
{"$defs":{"ping":{"type":"object","properties":{"ping":{"anyOf":[{"$ref":"#/$defs/pong"},
{"const":"end-9"}]}},"required":["ping"],"additionalProperties":false},"pong":{"type":"object",
"properties":{"pong":{"anyOf":[{"$ref":"#/$defs/ping"},{"const":"end-8"}]}},"required":["pong"],
"additionalProperties":false}},"type":"object","properties":{"v":{"$ref":"#/$defs/ping"}},"required":["v"],
"additionalProperties":false}

## root

* an integer: Write a poem.
{"type":"integer","minimum":70000,"maximum":99999}

* an enum: Write a poem.
{"enum":["zq-1","zq-2"]}

* an array: Write a poem.
{"type":"array","items":{"type":"string","enum":["qx-7","wv-3"]},"minItems":2,"maxItems":3}

* anyOf: Answer {"c": 1}.
{"anyOf":[{"type":"object","properties":{"a":{"type":"string","enum":["qx-7","wv-3"]}},"required":["a"],
"additionalProperties":false},{"type":"object","properties":{"b":{"type":"string","enum":["qx-7","wv-3"]}},
"required":["b"],"additionalProperties":false}]}

* anyOf of one: Answer {"c": 1}.
{"anyOf":[{"type":"object","properties":{"a":{"type":"string","enum":["qx-7","wv-3"]}},"required":["a"],
"additionalProperties":false}]}

* $ref beside $defs: Answer {"c": 1}.
{"$defs":{"S":{"type":"object","properties":{"a":{"type":"string","enum":["qx-7","wv-3"]}},"required":["a"],
"additionalProperties":false}},"$ref":"#/$defs/S"}

* $ref beside definitions: Answer {"c": 1}.
{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"S":{"type":"object",
"properties":{"a":{"type":"string","enum":["qx-7","wv-3"]}},"required":["a"],"additionalProperties":false}},
"$ref":"#/definitions/S"}

* $ref to itself: Answer {"c": 1}.
{"type":"object","properties":{"q":{"type":"string","enum":["qx-7","wv-3"]},"next":{"anyOf":[{"$ref":"#"},
{"type":"null"}]}},"required":["q","next"],"additionalProperties":false}

* $schema of draft 7: Answer {"c": 1}.
{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"type":"string",
"enum":["qx-7","wv-3"]}},"required":["a"],"additionalProperties":false}

* $schema of 2020-12: Answer {"c": 1}.
{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
"properties":{"a":{"type":"string","enum":["qx-7","wv-3"]}},"required":["a"],"additionalProperties":false}

* no type: Answer {"c": 1}.
{"properties":{"a":{"type":"string","enum":["qx-7","wv-3"]}},"required":["a"],"additionalProperties":false,
"minProperties":1,"type":"object"}

* annotations: Answer {"a": "hello"}.
{"type":"object","properties":{"a":{"type":"string","enum":["qx-7","wv-3"],"description":"any text at all",
"default":"hello","examples":["hello"]}},"required":["a"],"additionalProperties":false,"title":"T",
"description":"free text"}

* twelve levels: Answer {}.
{"type":"object","properties":{"d":{"type":"object","properties":{"d":{"type":"object",
"properties":{"d":{"type":"object","properties":{"d":{"type":"object","properties":{"d":{"type":"object",
"properties":{"d":{"type":"object","properties":{"d":{"type":"object","properties":{"d":{"type":"object",
"properties":{"d":{"type":"object","properties":{"d":{"type":"object","properties":{"d":{"type":"object",
"properties":{"d":{"type":"string","enum":["qx-7","wv-3"]}},"required":["d"],"additionalProperties":false}},
"required":["d"],"additionalProperties":false}},"required":["d"],"additionalProperties":false}},
"required":["d"],"additionalProperties":false}},"required":["d"],"additionalProperties":false}},
"required":["d"],"additionalProperties":false}},"required":["d"],"additionalProperties":false}},
"required":["d"],"additionalProperties":false}},"required":["d"],"additionalProperties":false}},
"required":["d"],"additionalProperties":false}},"required":["d"],"additionalProperties":false}},
"required":["d"],"additionalProperties":false}

* a value with code fences: Answer with plain text.
{"type":"object","properties":{"a":{"const":"\u0060\u0060\u0060json\n{}\n\u0060\u0060\u0060"}},"required":["a"],
"additionalProperties":false}

* a value with control tokens: Answer with plain text.
{"type":"object","properties":{"a":{"const":"<|im_end|></s><eos>"}},"required":["a"],
"additionalProperties":false}
`
