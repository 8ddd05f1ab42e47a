/**
 * JSON Schemas for the suite: keywords of single values. The form of the text is described in
 * ../schemas.ts.
 */
export const scalars = String.raw`
## type

string: v is the number 12.
{"type":"string"}

integer: v is the text 'twelve'.
{"type":"integer"}

integer, not a fraction: v is 2.5.
{"type":"integer","exclusiveMinimum":1,"maximum":9}

number: v is the text 'many'.
{"type":"number"}

boolean: v is the text 'maybe'.
{"type":"boolean"}

null: v is the text 'nothing'.
{"type":"null"}

array: v is the text 'a list'.
{"type":"array","items":{"enum":[1,2]},"maxItems":4}

object: v is 5.
{"type":"object","properties":{"a":{"enum":[1]}},"additionalProperties":false}

two types: v is a poem about the sea.
{"type":["integer","null"]}

scalar types: v is a list of three poems.
{"type":["boolean","integer","null"]}

## enum

odd texts: v is 'hello'.
{"enum":["zq-kappa","%%-17","vrrm"]}

with a type: v is 'hello'.
{"type":"string","enum":["zq-kappa","vrrm"]}

one value: v is 'anything else'.
{"enum":["only-9q"]}

numbers: v is 3.
{"enum":[-7919,65537.5,0.125]}

mixed types: v is 'yes'.
{"enum":["q9",88123,null,false]}

escapes: v is 'plain'.
{"enum":["a\"b\\c/\n\t","\u0001\u001f"]}

unicode: v is 'plain'.
{"enum":["ключ-ж","日本x語","🜁🜂"]}

objects: v is {"a": 2}.
{"enum":[{"a":[1,{"b":null}]},{"c":"d"}]}

arrays: v is ['y'].
{"enum":[["x",7],[]]}

200 texts: v is 'k5z'.
{"enum":["k0z","k1z","k4z","k9z","k16z","k25z","k36z","k49z","k64z","k81z","k100z","k121z","k144z","k169z",
"k196z","k225z","k256z","k289z","k324z","k361z","k400z","k441z","k484z","k529z","k576z","k625z","k676z",
"k729z","k784z","k841z","k900z","k961z","k1024z","k1089z","k1156z","k1225z","k1296z","k1369z","k1444z",
"k1521z","k1600z","k1681z","k1764z","k1849z","k1936z","k2025z","k2116z","k2209z","k2304z","k2401z","k2500z",
"k2601z","k2704z","k2809z","k2916z","k3025z","k3136z","k3249z","k3364z","k3481z","k3600z","k3721z","k3844z",
"k3969z","k4096z","k4225z","k4356z","k4489z","k4624z","k4761z","k4900z","k5041z","k5184z","k5329z","k5476z",
"k5625z","k5776z","k5929z","k6084z","k6241z","k6400z","k6561z","k6724z","k6889z","k7056z","k7225z","k7396z",
"k7569z","k7744z","k7921z","k8100z","k8281z","k8464z","k8649z","k8836z","k9025z","k9216z","k9409z","k9604z",
"k9801z","k10000z","k10201z","k10404z","k10609z","k10816z","k11025z","k11236z","k11449z","k11664z",
"k11881z","k12100z","k12321z","k12544z","k12769z","k12996z","k13225z","k13456z","k13689z","k13924z",
"k14161z","k14400z","k14641z","k14884z","k15129z","k15376z","k15625z","k15876z","k16129z","k16384z",
"k16641z","k16900z","k17161z","k17424z","k17689z","k17956z","k18225z","k18496z","k18769z","k19044z",
"k19321z","k19600z","k19881z","k20164z","k20449z","k20736z","k21025z","k21316z","k21609z","k21904z",
"k22201z","k22500z","k22801z","k23104z","k23409z","k23716z","k24025z","k24336z","k24649z","k24964z",
"k25281z","k25600z","k25921z","k26244z","k26569z","k26896z","k27225z","k27556z","k27889z","k28224z",
"k28561z","k28900z","k29241z","k29584z","k29929z","k30276z","k30625z","k30976z","k31329z","k31684z",
"k32041z","k32400z","k32761z","k33124z","k33489z","k33856z","k34225z","k34596z","k34969z","k35344z",
"k35721z","k36100z","k36481z","k36864z","k37249z","k37636z","k38025z","k38416z","k38809z","k39204z",
"k39601z"]}

common beginnings: v is 'artist'.
{"enum":["art","artful","artfully-9"]}

the empty text: v is a long story.
{"enum":[""]}

## const

text: v is 'hello'.
{"const":"qq/81-x"}

number: v is 3.
{"const":81726.25}

a large integer: v is 3.
{"const":12345678901234567891}

null: v is true.
{"const":null}

false: v is true.
{"const":false}

object: v is {"k": "other"}.
{"const":{"k":"q7","list":[1,2]}}

array: v is [1, 2, 3].
{"const":["q7",{"a":1}]}

## pattern

a serial number: v is the serial number 12-ABC.
{"type":"string","pattern":"^[A-F]{2}-[0-9]{4}/zz$"}

unanchored: v is 'hello'.
{"type":"string","pattern":"q7x!","maxLength":20}

digits: v is 'five five five'.
{"type":"string","pattern":"^\\d{3}-\\d{4}$"}

alternatives: v is 'zork'.
{"type":"string","pattern":"^(zork|qlax)(;(zork|qlax)){2}$"}

repeats: v is 'abc'.
{"type":"string","pattern":"^(ab){4}c+d{2,3}$","maxLength":20}

negated class: v is 'letters'.
{"type":"string","pattern":"^[^a-zA-Z ]{6,9}$"}

lookahead: v is 'password'.
{"type":"string","pattern":"^(?=.*[0-9])(?=.*[A-Z])[0-9A-Z]{8}$"}

negative lookahead: v is 'queue'.
{"type":"string","pattern":"^(?!.*[aeiou])[a-z]{5}$"}

a Unicode property: v is 'abc'.
{"type":"string","pattern":"^\\p{Lu}{3}_$"}

letters beyond ASCII: v is 'aous'.
{"type":"string","pattern":"^[äöüß]{4}$"}

beyond the basic plane: v is 'fire'.
{"type":"string","pattern":"^[🜁-🜄]{2}$"}

quotes and backslashes: v is 'plain'.
{"type":"string","pattern":"^[\"\\\\]{3}$"}

with maxLength: v is 'abcabcabcabcabc'.
{"type":"string","pattern":"^[a-c]+$","maxLength":3}

with minLength: v is 'x'.
{"type":"string","pattern":"^[xyz]*$","minLength":24,"maxLength":30}

two by allOf: v is 'deadbeef'.
{"type":"string","allOf":[{"pattern":"^[a-f0-9]{8}$"},{"pattern":"00f$"}]}

## minLength

40: v is 'a'.
{"type":"string","minLength":40,"maxLength":60,"pattern":"^[a-z ]*$"}

in code points: v is '🜁'.
{"type":"string","minLength":3,"pattern":"^[🜁x]*$","maxLength":3}

## maxLength

2: v is the story of a long voyage.
{"type":"string","maxLength":2}

0: v is the story of a long voyage.
{"type":"string","maxLength":0}

exactly 5: v is the story of a long voyage.
{"type":"string","minLength":5,"maxLength":5}

65536: v is a number: 5.
{"type":"string","maxLength":65536}

## minimum

integer: v is 3.
{"type":"integer","minimum":5000000,"maximum":99999999}

number: v is 0.5.
{"type":"number","minimum":7319.5,"maximum":7320}

beyond 2^53: v is 1.
{"type":"integer","minimum":9007199254740993,"maximum":9007199254740995}

exclusive: v is 6.
{"type":"integer","exclusiveMinimum":6,"exclusiveMaximum":8}

* exclusive, as a boolean (draft 4): Answer with an object whose only member is v. v is 6.
{"$schema":"http://json-schema.org/draft-04/schema#","type":"object",
"properties":{"v":{"$schema":"http://json-schema.org/draft-04/schema#","type":"integer","minimum":6,
"exclusiveMinimum":true,"maximum":7}},"required":["v"],"additionalProperties":false}

## maximum

negative: v is 3.
{"type":"integer","maximum":-5000,"minimum":-99999}

a fraction: v is 17.
{"type":"number","maximum":0.0001,"minimum":0}

exclusive: v is -100.5.
{"type":"number","exclusiveMaximum":-100.5,"minimum":-101}

## multipleOf

7919: v is 100.
{"type":"integer","multipleOf":7919,"minimum":1,"maximum":99999}

0.25: v is 0.3.
{"type":"number","multipleOf":0.25,"exclusiveMinimum":0,"exclusiveMaximum":1}

two by allOf: v is 70.
{"type":"integer","minimum":1,"maximum":999,"allOf":[{"multipleOf":7},{"multipleOf":11}]}

## format

date: v is 'next Tuesday'.
{"type":"string","format":"date"}

time: v is 'noon'.
{"type":"string","format":"time"}

date-time: v is 'next Tuesday at noon'.
{"type":"string","format":"date-time"}

duration: v is 'two hours'.
{"type":"string","format":"duration"}

email: v is 'nobody'.
{"type":"string","format":"email","maxLength":30}

hostname: v is 'not a host!'.
{"type":"string","format":"hostname","maxLength":30}

ipv4: v is '999.1.1'.
{"type":"string","format":"ipv4"}

ipv6: v is '12:zz'.
{"type":"string","format":"ipv6"}

uri: v is 'no link, sorry'.
{"type":"string","format":"uri","maxLength":40}

uuid: v is '1234'.
{"type":"string","format":"uuid"}

json-pointer: v is 'a.b'.
{"type":"string","format":"json-pointer","minLength":1,"maxLength":30}

with a pattern: v is '2025-01-01'.
{"type":"string","format":"date","pattern":"^2026-1"}
`
