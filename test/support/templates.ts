/**
 * Small chat templates and what Python's Jinja writes for them, over `names` and one message. `test/models/templates.ts` holds
 * the third column against transformers; null: both refuse.
 */
import type { Message } from "../../runtime/model/template.ts"

export const templateMessages: readonly Message[] = [
  { role: "user", content: " Hi 😀 " },
  { role: "assistant", content: "a\n\nb", reasoning_content: "hm" },
]

export const templateNames: Readonly<Record<string, unknown>> = {
  items: "shadowed",
  number: 3,
  ratio: 0.1,
  tiny: 0.00001,
  huge: 1e16,
  word: "Grüße, it's",
  text: "one\ntwo\n\nthree",
  list: [3, "b", null, true, 1.5, ["x"], { k: "v" }],
  names: ["beta", "Alpha", "gamma"],
  objects: [
    { n: 2, s: "b", on: true },
    { n: 1, s: "a", on: false },
    { n: 3, s: "c" },
  ],
  dict: { b: 1, a: [true, null, "é<"], items: "member", get: "g" },
  empty: {},
  nothing: null,
}

type Case = [name: string, template: string, text: string | null]

/** White space around tags, comments and raw text. */
const spaces: readonly Case[] = [
  [
    "a newline behind a block goes, one behind an expression stays",
    "a\n{% if 1 %}\nb\n{% endif %}\n{{ 1 }}\nc\n",
    "a\nb\n1\nc",
  ],
  [
    "white space before a block at the start of a line goes",
    "  \t{% if 1 %}x{% endif %}  {# c #}\n  y {% if 1 %}z{% endif %}",
    "x    y z",
  ],
  ["minus takes all on its side", "a \n {%- if 1 -%} \n b \n {%- endif -%} \n c {{- 1 -}}  d", "abc1d"],
  ["plus keeps it", "  {%+ if 1 +%}\nx\n  {%+ endif %}", "  \nx\n  "],
  ["carriage returns are newlines", "a\r\n{% if 1 %}\r\nb\r\n{% endif %}\rc", "a\nb\nc"],
  [
    "a text with brackets is no tag",
    "{ {x} }} %} #} {{ '}}' }} {{ {'a': {}} }}",
    "{ {x} }} %} #} }} {'a': {}}",
  ],
  ["raw", "{% raw %}{{ x }} {% if %}{% endraw %}\nx", "{{ x }} {% if %}x"],
  ["what transformers marks is written", "{% generation %}\n{{ number }}\n{% endgeneration %}\nx", "3\nx"],
]

/** What a value prints, alone and in a list. */
const prints: readonly Case[] = [
  [
    "None, booleans, numbers",
    "{{ none }} {{ true }} {{ number }} {{ ratio }} {{ tiny }} {{ huge }} {{ 1.0 }} {{ 2e3 }}",
    "None True 3 0.1 1e-05 10000000000000000 1.0 2000.0",
  ],
  [
    "a list and a dictionary",
    "{{ list }} {{ dict }}",
    `[3, 'b', None, True, 1.5, ['x'], {'k': 'v'}] {'b': 1, 'a': [True, None, 'é<'], 'items': 'member', 'get': 'g'}`,
  ],
  [
    "texts in a list are quoted as Python does",
    `{{ ["it's", 'a"b', "it's \\"x\\"", "\\n\\t\\x07\\u2028 é 😀 \\\\"] }}`,
    `["it's", 'a"b', 'it\\'s "x"', '\\n\\t\\x07\\u2028 é 😀 \\\\']`,
  ],
  [
    "tuples, ranges and views",
    "{{ (1,) }} {{ (1, 'a') }} {{ range(3) }} {{ empty.items() }} {{ {'a': 1}.keys() }}",
    "(1,) (1, 'a') range(0, 3) dict_items([]) dict_keys(['a'])",
  ],
  ["what is not there prints nothing", "[{{ missing }}{{ dict.x }}{{ list[9] }}{{ missing ~ 'x' }}]", "[x]"],
  ["a member of what is not there fails", "{{ missing.x }}", null],
  ["adding what is not there fails", "{{ 'a' + missing }}", null],
]

/** JSON as json.dumps writes it. */
const json: readonly Case[] = [
  [
    "on one line",
    "{{ dict | tojson }} {{ [1.0, huge, tiny, nothing, (1, 2)] | tojson }}",
    `{"b": 1, "a": [true, null, "é<"], "items": "member", "get": "g"} [1.0, 10000000000000000, 1e-05, null, [1, 2]]`,
  ],
  [
    "indented",
    "{{ {'a': [1, {}], 'b': []} | tojson(indent=2) }}",
    `{\n  "a": [\n    1,\n    {}\n  ],\n  "b": []\n}`,
  ],
  [
    "separators, sorted keys, ASCII",
    "{{ {'b': 'é😀', 'a': 1} | tojson(separators=(',', ':'), sort_keys=true, ensure_ascii=true) }}",
    `{"a":1,"b":"\\u00e9\\ud83d\\ude00"}`,
  ],
  ["indent by position", "{{ [1] | tojson(false, 1) }}", "[\n 1\n]"],
  [
    "keys that are no texts",
    "{{ {1: 'a', none: 'b', 2.5: 'c'} | tojson }}",
    `{"1": "a", "null": "b", "2.5": "c"}`,
  ],
  ["what is not there is no JSON", "{{ missing | tojson }}", null],
]

/** Names, loops, macros. */
const scopes: readonly Case[] = [
  [
    "what a loop sets ends with each round",
    "{% for x in [1, 2] %}{{ y }}{% set y = x %}{{ y }};{% endfor %}{{ y }}",
    "1;2;",
  ],
  [
    "a loop sees what is set outside",
    "{% set y = 0 %}{% for x in [1, 2] %}{{ y }}{% set y = x %}{% endfor %}{{ y }}",
    "000",
  ],
  ["if is no scope", "{% if true %}{% set y = 1 %}{% endif %}{{ y }}", "1"],
  [
    "a namespace keeps what is set",
    "{% set ns = namespace(n=0, l=[]) %}{% for x in [1, 2] %}{% set ns.n = ns.n + x %}{% set ns.l = ns.l + [x] %}{% endfor %}{{ ns.n }}{{ ns.l }}",
    "3[1, 2]",
  ],
  [
    "a macro does not see its caller's names",
    "{% macro m() %}{{ x }}{% endmacro %}{% for x in [1] %}{{ m() }}|{% endfor %}",
    "|",
  ],
  ["a macro sees what is set behind it", "{% macro m(a, b=2, *c) %}{% endmacro %}", null],
  [
    "defaults, names and too many arguments of a macro",
    "{% macro m(a, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}{{ m(1, b=3) }}{{ m() }}",
    "1113",
  ],
  [
    "varargs and kwargs",
    "{% macro m(a) %}{{ a }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, x=3) }}",
    "1(2,){'x': 3}",
  ],
  ["too many arguments", "{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}", null],
  [
    "call and caller",
    "{% macro m() %}<{{ caller(1) }}>{% endmacro %}{% call(x) m() %}a{{ x }}{% endcall %}",
    "<a1>",
  ],
  [
    "a set block with a filter is a scope",
    "{% set t | upper %}a{% set z = 1 %}{% endset %}{{ t }}{{ z }}",
    "A",
  ],
  ["a filter block", "{% filter trim | upper %} a {% endfilter %}", "A"],
  ["with", "{% with a = 1, b = 2 %}{{ a + b }}{% endwith %}{{ a }}", "3"],
  [
    "loop variables",
    "{% for x in 'abc' %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.cycle('x', 'y') }}{{ loop.changed(x == 'c') }};{% endfor %}",
    "1032TrueFalse3bxTrue;2121FalseFalse3acyFalse;3210FalseTrue3bxTrue;",
  ],
  [
    "a loop with a condition and an else",
    "{% for x in [1, 2, 3] if x > 1 %}{{ loop.index }}{{ x }}{% else %}none{% endfor %}{% for x in [] %}{% else %}none{% endfor %}",
    "1223none",
  ],
  [
    "break and continue",
    "{% for x in range(9) %}{% if x == 1 %}{% continue %}{% endif %}{% if x == 3 %}{% break %}{% endif %}{{ x }}{% endfor %}",
    "02",
  ],
  [
    "pairs",
    "{% for k, v in dict.items() if k != 'a' %}{{ k }}={{ v }};{% endfor %}{% set a, b = 1, 2 %}{{ a }}{{ b }}",
    "b=1;items=member;get=g;12",
  ],
  ["a loop over None fails", "{% for x in none %}{% endfor %}", null],
  ["a loop over what is not there is empty", "{% for x in missing %}{% else %}e{% endfor %}", "e"],
  [
    "recursion",
    "{% for x in [[1, [2]], [3]] recursive %}{% if x is sequence %}({{ loop(x) }}){% else %}{{ x }}{{ loop.depth }}{% endif %}{% endfor %}",
    "(12(23))(32)",
  ],
]

/** Operators, members, methods. */
const operations: readonly Case[] = [
  [
    "numbers",
    "{{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 4 / 2 }} {{ 2 ** 3 }} {{ 2 ** -1 }} {{ 1 + 2.0 }} {{ -ratio }} {{ true + 1 }}",
    "3 -4 2 3.5 2.0 8 0.5 3.0 -0.1 2",
  ],
  [
    "texts and lists",
    "{{ 'a' * 3 }} {{ [1] + [2] }} {{ 'x%sy%03d' % ('a', 7) }} {{ 1 ~ 'a' ~ none }}",
    "aaa [1, 2] xay007 1aNone",
  ],
  ["a text and a number do not add up", "{{ 'a' + 1 }}", null],
  [
    "comparisons",
    "{{ 1 < 2 < 3 }} {{ 1 == 1.0 }} {{ [1, {'a': 2}] == [1, {'a': 2}] }} {{ 'a' < 'b' }} {{ none == missing }} {{ 'k' in {'k': 1} }} {{ 2 in [1, 2.0] }} {{ 'b' not in 'abc' }}",
    "True True True True False True True False",
  ],
  ["what has no parts is cut to nothing", "[{{ none[1:] }}{{ (1)[0] }}{{ 'a' % [1] }}]", "[a]"],
  ["a list orders with no text", "{{ [] < 'a' }}", null],
  [
    "and, or and not give values",
    "{{ 0 or 'x' }} {{ [] and 1 }} {{ not '' }} {{ none or missing or 0 }}",
    "x [] True 0",
  ],
  ["sum binds looser than join", "{{ 'a' + 1 ~ 'b' }}", "a1b"],
  ["a choice without an else", "[{{ 'x' if false }}]{{ 'a' if true else 'b' if false else 'c' }}", "[]a"],
  [
    "a method before a key by the point, a key before a method by brackets",
    "{{ dict['items'] }} {{ dict.items() | length }} {{ dict['get'] }} {{ dict.get('zz', 1) }} {{ dict.b }}",
    "member 4 g 1 1",
  ],
  [
    "slices",
    "{{ list[1:3] }} {{ list[::-3] }} {{ 'a😀b'[1] }} {{ 'a😀b'[::-1] }} {{ 'abc'[-2:] }} {{ list[-1].k }} {{ messages[0].content[1:3] }}",
    "['b', None] [{'k': 'v'}, True, 3] 😀 b😀a bc v Hi",
  ],
  [
    "stripping",
    "[{{ ' a\\n'.strip() }}] [{{ 'xxaxx'.strip('x') }}] [{{ '\\n\\n a'.lstrip('\\n') }}] [{{ 'a \\n'.rstrip('\\n') }}] [{{ '\\ufeffa\\x1c'.strip() }}]",
    "[a] [a] [ a] [a ] [\ufeffa]",
  ],
  [
    "splitting",
    "{{ 'a,b,,c'.split(',') }} {{ ' a  b c '.split() }} {{ ' a  b c '.split(none, 1) }} {{ 'a,b,c'.rsplit(',', 1) }} {{ 'a</t>b</t>c'.split('</t>')[-1] }} {{ 'a\\nb\\r\\n'.splitlines() }} {{ 'a=b=c'.partition('=') }}",
    "['a', 'b', '', 'c'] ['a', 'b', 'c'] ['a', 'b c '] ['a,b', 'c'] c ['a', 'b'] ('a', '=', 'b=c')",
  ],
  [
    "other methods",
    "{{ 'abcABC'.replace('b', 'x', 1) }} {{ 'ab'.upper() }} {{ 'hello world'.title() }} {{ 'hELLO'.capitalize() }} {{ 'abc'.startswith(('x', 'a')) }} {{ 'abc'.find('c') }} {{ '7'.zfill(3) }} {{ ', '.join(['a', 'b']) }} {{ '{} {0} {x}'.format('a', x=1) if false else '{}-{x}'.format('a', x=1) }} {{ 'aXb'.swapcase() }} {{ '12'.isdigit() }}",
    "axcABC AB Hello World Hello True 2 007 a, b a-1 AxB True",
  ],
  ["a method that changes a list is refused", "{% set x = list.append(1) %}", null],
  [
    "counted in code points",
    "{{ '😀é' | length }} {{ 'a😀'.find('😀') }} {{ '😀'.center(3, '-') }}",
    "2 1 -😀-",
  ],
  ["escapes", `{{ 'a\\x41\\u00e9\\U0001F600\\101\\q\\'' }}`, "aAé😀A\\q'"],
  ["texts side by side, numbers with underscores", "{{ 'a' 'b' }} {{ 1_000 }} {{ 0x1f }}", "ab 1000 31"],
]

/** Filters and tests. */
const filters: readonly Case[] = [
  [
    "of lists",
    "{{ names | sort }} {{ names | sort(reverse=true, case_sensitive=true) }} {{ [2, 1, 2] | unique | list }} {{ [1, 5, 3] | max }} {{ [] | min }} {{ names | first }} {{ names | last }} {{ [1, 2, 3] | sum }} {{ names | reverse | list }} {{ [1, 2] | join('-') }} {{ [[1, 2], [3]] | map('length') | list }}",
    "['Alpha', 'beta', 'gamma'] ['gamma', 'beta', 'Alpha'] [2, 1] 5  beta gamma 6 ['gamma', 'Alpha', 'beta'] 1-2 [2, 1]",
  ],
  [
    "of objects",
    "{{ objects | map(attribute='s') | join(',') }} {{ objects | selectattr('on') | map(attribute='n') | list }} {{ objects | rejectattr('on', 'defined') | list }} {{ objects | selectattr('s', 'in', ['a', 'c']) | map(attribute='n') | list }} {{ objects | sort(attribute='n') | map(attribute='s') | list }} {{ objects | map(attribute='on', default='?') | list }} {{ objects | sum('n') }}",
    "b,a,c [2] [{'n': 3, 's': 'c'}] [1, 3] ['a', 'b', 'c'] [True, False, '?'] 6",
  ],
  [
    "select takes None and is read once",
    "{{ none | selectattr('a') | list }} {% set s = [1, 2] | select('odd') %}{{ s | list }}{{ s | list }} {{ nothing | map('x') | list }}",
    "[] [1][] []",
  ],
  [
    "of dictionaries",
    "{{ {'b': 1, 'A': 2} | dictsort }} {{ {'b': 1, 'A': 2} | dictsort(by='value', reverse=true) }} {{ dict | items | list | length }} {{ missing | items | list }} {{ dict | length }}",
    "[('A', 2), ('b', 1)] [('A', 2), ('b', 1)] 4 [] 4",
  ],
  [
    "of texts",
    "[{{ ' a ' | trim }}] {{ 'xax' | trim('x') }} {{ text | indent }} {{ text | indent(2, true, true) }} {{ 'foo_bar baz-qux' | title }} {{ 'aBC' | capitalize }} {{ 'a-b' | replace('-', '+') }} {{ missing | upper }}{{ missing | trim }} {{ '%s=%d' | format('a', 1) }}",
    "[a] a one\n    two\n\n    three   one\n  two\n  \n  three Foo_bar Baz-Qux Abc a+b  a=1",
  ],
  [
    "to numbers and texts",
    "{{ '42' | int }} {{ 'x' | int(7) }} {{ '3.9' | int }} {{ '1.5' | float }} {{ 2.5 | round }} {{ 2.567 | round(2) }} {{ 3 | string + 'a' }} {{ none | string }} {{ [1] | string }} {{ true | int }} {{ -3 | abs }}",
    "42 7 3 1.5 2.0 2.57 3a None [1] 1 3",
  ],
  [
    "default",
    "{{ missing | default('d') }} {{ none | default('d') }} {{ '' | default('d', true) }} {{ missing | d }}{{ nothing | default(none, true) }}",
    "d None d None",
  ],
  [
    "batch, groupby, list, wordcount",
    "{{ [1, 2, 3] | batch(2) | list }} {{ [1] | batch(2, 'x') | list }} {% for k, g in objects | groupby('on', default=false) %}{{ k }}{{ g | length }};{% endfor %} {{ 'ab' | list }} {{ 'a b' | wordcount }}",
    "[[1, 2], [3]] [[1, 'x']] False2;True1; ['a', 'b'] 2",
  ],
  [
    "a marked text escapes what is added to it",
    "{{ '<'|safe + '<' + '>'|safe }} {{ '<'|safe ~ '<' }} {{ '<' | escape }}",
    "<&lt;> << &lt;",
  ],
  ["an unknown filter", "{{ 1 | nope }}", null],
  [
    "tests of kinds",
    "{{ 1 is number }} {{ 1 is integer }} {{ 1.0 is float }} {{ 'a' is string }} {{ {} is mapping }} {{ {} is sequence }} {{ [] is iterable }} {{ 1 is iterable }} {{ none is none }} {{ missing is defined }} {{ missing is not defined }} {{ true is boolean }} {{ false is false }} {{ range is callable }} {{ missing is none }} {{ missing is iterable }}",
    "True True True True True True True False True False True True True True False True",
  ],
  [
    "tests with arguments",
    "{{ 4 is divisibleby 2 }} {{ 4 is divisibleby(3) }} {{ 1 is eq 1 }} {{ 'a' is in ['a'] }} {{ 3 is gt 2 }} {{ 3 is odd }} {{ none is sameas none }} {{ 'A' is upper }} {{ 1 is not eq 2 and true }}",
    "True False True True True True True True True",
  ],
  ["a test binds closer than an operator", "{{ 'a' ~ 1 is string }} {{ not x is defined }}", "aFalse True"],
]

/** What messages become. */
const given: readonly Case[] = [
  [
    "texts count in code points",
    "{{ messages[0].content | length }}{{ messages[0]['content'] | trim }}",
    "6Hi 😀",
  ],
  ["reasoning has both names", "{{ messages[1].thinking }}{{ messages[1].reasoning_content }}", "hmhm"],
  ["tools are None", "{{ tools }} {{ tools is defined }} {{ documents is none }}", "None True True"],
  ["raising", "{{ raise_exception('no') }}", null],
  ["dict and namespace", "{{ dict | length }} {{ namespace({'a': 1}, b=2).b }}", "4 2"],
  ["an unknown tag", "{% include 'x' %}", null],
  ["no end", "{% if true %}", null],
]

export const templateCases: readonly Case[] = [
  ...spaces,
  ...prints,
  ...json,
  ...scopes,
  ...operations,
  ...filters,
  ...given,
]
