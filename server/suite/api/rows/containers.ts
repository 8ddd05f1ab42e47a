/**
 * JSON Schemas for the suite: keywords of arrays and objects. The form of the text is described in
 * ../schemas.ts.
 */
export const containers = String.raw`
## items

odd texts: v is [1, 2, 3].
{"type":"array","items":{"type":"string","enum":["qx-7","wv-3"]},"minItems":2,"maxItems":4}

objects: v is [1].
{"type":"array","items":{"type":"object","properties":{"q":{"type":"string","enum":["qx-7","wv-3"]}},
"required":["q"],"additionalProperties":false},"minItems":1,"maxItems":2}

arrays: v is [1].
{"type":"array","items":{"type":"array","items":{"type":"string","enum":["qx-7","wv-3"]},"minItems":1,
"maxItems":2},"minItems":1,"maxItems":2}

false: v is [1, 2, 3].
{"type":"array","items":false}

## minItems

6: v is [0].
{"type":"array","items":{"enum":[0,1]},"minItems":6,"maxItems":9}

exactly 3: v is [0].
{"type":"array","items":{"enum":[0,1]},"minItems":3,"maxItems":3}

## maxItems

1: v is [0, 1, 0, 1, 0, 1].
{"type":"array","items":{"enum":[0,1]},"maxItems":1,"minItems":1}

0: v is [0, 1, 0, 1, 0, 1].
{"type":"array","items":{"enum":[0,1]},"maxItems":0}

a billion: v is 'ten zeros'.
{"type":"array","items":{"enum":[0,1]},"maxItems":1000000000,"minItems":1}

## uniqueItems

texts: v is ['q', 'q', 'q', 'q'].
{"type":"array","items":{"enum":["q","w","x","y"]},"minItems":4,"maxItems":4,"uniqueItems":true}

numbers: v is [1, 1, 1, 1, 1].
{"type":"array","items":{"type":"integer","minimum":1,"maximum":5},"minItems":5,"maxItems":5,
"uniqueItems":true}

objects: v is [{"a": 1}, {"a": 1}].
{"type":"array","items":{"type":"object","properties":{"a":{"enum":[1,2]}},"required":["a"],
"additionalProperties":false},"minItems":2,"maxItems":2,"uniqueItems":true}

## prefixItems

closed: v is [1, 'a', 3].
{"type":"array","prefixItems":[{"const":"q1"},{"enum":[77,78]}],"items":false,"minItems":2}

then items: v is ['a', 'b'].
{"type":"array","prefixItems":[{"const":"q1"}],"items":{"enum":[41,42]},"minItems":3,"maxItems":4}

* items as a list (draft 7): Answer with an object whose only member is v. v is [1, 'a', 3].
{"$schema":"http://json-schema.org/draft-07/schema#","type":"object",
"properties":{"v":{"$schema":"http://json-schema.org/draft-07/schema#","type":"array",
"items":[{"const":"q1"},{"enum":[77]}],"additionalItems":false,"minItems":2}},"required":["v"],
"additionalProperties":false}

## contains

once: v is [1, 2, 3].
{"type":"array","items":{"type":"integer","minimum":0,"maximum":9},"contains":{"const":7},"minItems":1,
"maxItems":4}

minContains: v is [0, 0, 0].
{"type":"array","items":{"enum":[0,1,2]},"contains":{"const":2},"minContains":3,"minItems":1,"maxItems":5}

maxContains: v is [1, 1, 1, 1, 1, 1].
{"type":"array","items":{"enum":[0,1]},"contains":{"const":1},"minContains":0,"maxContains":0,"minItems":6,
"maxItems":8}

## properties

each by its schema: v is {"a": 1, "b": 2, "c": 3}.
{"type":"object","properties":{"a":{"type":"string","enum":["qx-7","wv-3"]},"b":{"const":81},
"c":{"type":"null"}},"required":["a","b","c"],"additionalProperties":false}

names with quotes and spaces: v is {"a": 1}.
{"type":"object","properties":{"a\"b":{"type":"string","enum":["qx-7","wv-3"]},"c d":{"const":1},
"":{"const":2},"ключ":{"const":3}},"required":["a\"b","c d","","ключ"],"additionalProperties":false}

forty of them: v is {"p0": 9}.
{"type":"object","properties":{"p0":{"const":0},"p1":{"const":1},"p2":{"const":2},"p3":{"const":0},
"p4":{"const":1},"p5":{"const":2},"p6":{"const":0},"p7":{"const":1},"p8":{"const":2},"p9":{"const":0},
"p10":{"const":1},"p11":{"const":2},"p12":{"const":0},"p13":{"const":1},"p14":{"const":2},"p15":{"const":0},
"p16":{"const":1},"p17":{"const":2},"p18":{"const":0},"p19":{"const":1},"p20":{"const":2},"p21":{"const":0},
"p22":{"const":1},"p23":{"const":2},"p24":{"const":0},"p25":{"const":1},"p26":{"const":2},"p27":{"const":0},
"p28":{"const":1},"p29":{"const":2},"p30":{"const":0},"p31":{"const":1},"p32":{"const":2},"p33":{"const":0},
"p34":{"const":1},"p35":{"const":2},"p36":{"const":0},"p37":{"const":1},"p38":{"const":2},
"p39":{"const":0}},"required":["p0","p1","p2","p3","p4","p5","p6","p7","p8","p9","p10","p11","p12","p13",
"p14","p15","p16","p17","p18","p19","p20","p21","p22","p23","p24","p25","p26","p27","p28","p29","p30","p31",
"p32","p33","p34","p35","p36","p37","p38","p39"],"additionalProperties":false}

a forbidden one: v is {"a": 1}.
{"type":"object","properties":{"a":false,"b":{"type":"string","enum":["qx-7","wv-3"]}},"required":["b"],
"additionalProperties":false}

## required

three: v has no members: {}.
{"type":"object","properties":{"zed":{"type":"string","enum":["qx-7","wv-3"]},"yak":{"type":"string",
"enum":["qx-7","wv-3"]},"xis":{"type":"string","enum":["qx-7","wv-3"]}},"required":["zed","yak","xis"],
"additionalProperties":false}

one of three: v is {"a": "qx-7"}.
{"type":"object","properties":{"a":{"type":"string","enum":["qx-7","wv-3"]},"b":{"type":"string",
"enum":["qx-7","wv-3"]},"c":{"type":"string","enum":["qx-7","wv-3"]}},"required":["c"],
"additionalProperties":false}

undeclared: v is {"a": "qx-7"}.
{"type":"object","properties":{"a":{"type":"string","enum":["qx-7","wv-3"]}},"required":["zz9"],
"additionalProperties":{"enum":[5]},"maxProperties":2}

## additionalProperties

false: v is {"a": "qx-7", "extra": 1, "more": 2}.
{"type":"object","properties":{"a":{"type":"string","enum":["qx-7","wv-3"]}},"required":["a"],
"additionalProperties":false}

false, alone: v is {"a": 1}.
{"type":"object","additionalProperties":false}

a schema: v is {"a": 1, "b": 2}.
{"type":"object","additionalProperties":{"type":"string","enum":["qx-7","wv-3"]},"minProperties":2,
"maxProperties":3}

beside properties: v is {"a": 1, "b": 2}.
{"type":"object","properties":{"a":{"const":1}},"required":["a"],"additionalProperties":{"type":"string",
"enum":["qx-7","wv-3"]},"minProperties":2,"maxProperties":3}

## patternProperties

values: v is {"q1": 1, "a": 2}.
{"type":"object","patternProperties":{"^q[0-9]$":{"const":55}},"additionalProperties":false,
"minProperties":2,"maxProperties":3}

with properties: v is {"a": "b", "x": 1}.
{"type":"object","properties":{"a":{"type":"string","enum":["qx-7","wv-3"]}},"required":["a"],
"patternProperties":{"^x":{"enum":[66]}},"additionalProperties":false,"minProperties":2,"maxProperties":3}

## propertyNames

pattern: v is {"name": 1}.
{"type":"object","propertyNames":{"pattern":"^k[0-9]{3}$"},"additionalProperties":{"enum":[1]},
"minProperties":2,"maxProperties":3}

enum: v is {"name": 1}.
{"type":"object","propertyNames":{"enum":["zed","yak"]},"additionalProperties":{"enum":[1]},
"minProperties":2}

maxLength: v is {"long": 1}.
{"type":"object","propertyNames":{"maxLength":1,"pattern":"^[a-z]*$"},"additionalProperties":{"enum":[1]},
"minProperties":2,"maxProperties":3}

## minProperties

3: v is {}.
{"type":"object","properties":{"a":{"type":"string","enum":["qx-7","wv-3"]},"b":{"type":"string",
"enum":["qx-7","wv-3"]},"c":{"type":"string","enum":["qx-7","wv-3"]},"d":{"type":"string","enum":["qx-7",
"wv-3"]}},"additionalProperties":false,"minProperties":3}

maxProperties: v is {"a": "qx-7", "b": "qx-7", "c": "qx-7", "d": "qx-7"}.
{"type":"object","properties":{"a":{"type":"string","enum":["qx-7","wv-3"]},"b":{"type":"string",
"enum":["qx-7","wv-3"]},"c":{"type":"string","enum":["qx-7","wv-3"]},"d":{"type":"string","enum":["qx-7",
"wv-3"]}},"additionalProperties":false,"maxProperties":1,"minProperties":1}

## dependentRequired

a needs b: v is {"a": "qx-7"}.
{"type":"object","properties":{"a":{"type":"string","enum":["qx-7","wv-3"]},"b":{"type":"string",
"enum":["qx-7","wv-3"]}},"required":["a"],"additionalProperties":false,"dependentRequired":{"a":["b"]}}

dependentSchemas: v is {"a": 1, "b": 1}.
{"type":"object","properties":{"a":{"const":1},"b":{"enum":[1,2,3,4,5,6,7,8,9]}},"required":["a","b"],
"additionalProperties":false,"dependentSchemas":{"a":{"properties":{"b":{"const":9}}}}}

* dependencies (draft 7): Answer with an object whose only member is v. v is {"a": "qx-7"}.
{"$schema":"http://json-schema.org/draft-07/schema#","type":"object",
"properties":{"v":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object",
"properties":{"a":{"type":"string","enum":["qx-7","wv-3"]},"b":{"type":"string","enum":["qx-7","wv-3"]}},
"required":["a"],"additionalProperties":false,"dependencies":{"a":["b"]}}},"required":["v"],
"additionalProperties":false}

## unevaluatedProperties

through allOf: v is {"a": "qx-7", "b": 2, "c": 3}.
{"type":"object","allOf":[{"properties":{"a":{"type":"string","enum":["qx-7","wv-3"]}},"required":["a"]}],
"unevaluatedProperties":false}

unevaluatedItems: v is ['q1', 2, 3, 4].
{"type":"array","prefixItems":[{"const":"q1"}],"unevaluatedItems":false,"minItems":1}
`
