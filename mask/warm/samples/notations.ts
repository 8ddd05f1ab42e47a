/**
 * Grammars in notations of their own, with texts: a language of statements, one of queries, lists of choices, and calls of functions
 * within free text. Their rules are ambiguous where such grammars are, their names are chosen anew for each round.
 */
import type { GrammarInput } from "../../../grammar/compile.ts"
import type { Dice } from "./dice.ts"

export interface Notation {
  readonly input: GrammarInput
  /** Texts that the grammar accepts. */
  readonly texts: readonly string[]
}

/** The grammars of a round. */
export function notations(dice: Dice): Notation[] {
  return [statements(dice), query(dice), choices(dice), calls(dice), settings(dice), program(dice)]
}

const lexemes = `
name ::= [a-zA-Z_] [a-zA-Z_0-9]*
number ::= [0-9]+ ( "." [0-9]+ )?
ws ::= ( [ \\t\\n]+ | "//" [^\\n]* "\\n" )*`

function statements(dice: Dice): Notation {
  const [a, b, c, kind, loop] = dice.names(5, "snake")
  const text = `root ::= ws statement+
statement ::= "{" ws statement* "}" ws | "${loop}" ws "(" ws expr ")" ws statement | declaration | expr ";" ws
declaration ::= ( "${kind}" | "int" ) ( ws "*" ws | [ \\n]+ ) name ws ( "=" ws expr )? ";" ws
expr ::= unary "=" ws expr | test
test ::= sum ( ( "==" | "<" | "<=" | "&&" ) ws sum )*
sum ::= product ( ( "+" | "-" ) ws product )*
product ::= unary ( ( "*" | "/" ) ws unary )*
unary ::= ( "-" | "!" | "*" | "--" ) ws unary | postfix
postfix ::= primary ( "[" ws expr "]" ws | "(" ws ( expr ( "," ws expr )* )? ")" ws | "." ws name ws | "--" ws )*
primary ::= ( name | number | string ) ws | "(" ws expr ")" ws
string ::= "\\"" [^"\\n]* "\\""${lexemes}`
  return {
    input: { kind: "gbnf", text },
    texts: [
      `int ${a} = ${dice.from(2, 99)};\n${loop} (${a} < ${b}.size) {\n  ${c}[${a}] = -${b}(${a} * 2, "text");\n}\n`,
      `${kind} *${b} = (${a} + ${c}) / ${dice.from(2, 9)}; // ${dice.words(3)}\n*${b} = !${a}--;`,
    ],
  }
}

function query(dice: Dice): Notation {
  const [table, other, one, two] = dice.names(4, "snake")
  const text = `root ::= "SELECT" sp column ( "," ws column )* sp "FROM" sp table ( sp "JOIN" sp table sp "ON" sp test )? ( sp "WHERE" sp test )? ";"
column ::= term ( sp "AS" sp word )?
table ::= word ( sp word )?
test ::= all ( sp "OR" sp all )*
all ::= each ( sp "AND" sp each )*
each ::= term ws ( "=" | "<>" | "<" | ">" ) ws term | term sp "IN" sp "(" ws term ( "," ws term )* ws ")" | "(" ws test ws ")"
term ::= factor ( ws ( "+" | "-" | "*" ) ws factor )*
factor ::= [0-9]+ | "'" ( [^'] | "''" )* "'" | "COUNT" "(" ws ( "*" | term ) ws ")" | word ( "." word )? | "(" ws term ws ")"
word ::= [a-z_] [a-z0-9_]*
sp ::= [ \\n]+
ws ::= [ \\n]*`
  return {
    input: { kind: "gbnf", text },
    texts: [
      `SELECT a.${one}, COUNT(*) AS ${two} FROM ${table} a JOIN ${other} b ON a.id = b.id WHERE a.${two} > ${dice.from(2, 99)};`,
      `SELECT ${two} FROM ${other}\nWHERE (${one} IN (1, 'text') OR ${two} + 1 < ${one}) AND ${one} <> 'it''s';`,
    ],
  }
}

function choices(dice: Dice): Notation {
  const options = [...new Set(Array.from({ length: 200 }, () => dice.words(dice.from(2, 5))))]
  return { input: { kind: "choice", options }, texts: [dice.pick(options), dice.pick(options)] }
}

function calls(dice: Dice): Notation {
  const [trigger, field] = dice.names(2, "snake")
  const names = dice.names(24, "snake")
  const tags = names.map((name, i) => ({
    type: "tag",
    begin: `<${trigger}=${name}>`,
    content: {
      type: "json_schema",
      json_schema: {
        type: "object",
        properties: { [field]: { type: "string" }, count: { type: "integer", maximum: 10 + i } },
        required: [field],
      },
    },
    end: `</${trigger}>`,
  }))
  const call = (name: string) =>
    `<${trigger}=${name}>{"${field}": "${dice.words(3)}", "count": 7}</${trigger}>`
  return {
    input: { kind: "tag", format: { type: "triggered_tags", triggers: [`<${trigger}=`], tags } },
    texts: [`${dice.words(4)}.\n${call(names[0])} ${dice.words(2)}.`, call(names[5])],
  }
}

function settings(dice: Dice): Notation {
  const [one, two, three] = dice.names(3, "kebab")
  const text = `start: section+
section: "[" NAME "]" NL entry*
entry: NAME WS? "=" WS? value NL
value: NUMBER | STRING | "true" | "false" | "[" (value ("," WS? value)*)? "]"
NAME: /[a-z][a-z0-9-]*/
NUMBER: /-?[0-9]+(\\.[0-9]+)?/
STRING: /"[^"\\n]*"/
WS: /[ \\t]+/
NL: /\\n+/
`
  return {
    input: { kind: "lark", text },
    texts: [
      `[${one}]\n${two} = ${dice.from(2, 99)}\n${three} = "${dice.words(3)}"\n`,
      `[${three}]\n${one} = [1, true, "a"]\n\n[${two}]\n`,
    ],
  }
}

function program(dice: Dice): Notation {
  const [a, b, c, kind, unit] = dice.names(5, "snake")
  const text = `// Modules of functions and records; expressions by precedence, left-recursive.
start: module
module: "module" NAME ";" using* item+
using: "use" path ("as" NAME)? ";"
path: NAME ("::" NAME)*
?item: function | record | constant | "pub" item
function: "fn" NAME generics? "(" (parameter ("," parameter)*)? ")" ("->" type)? block
generics: "<" NAME ("," NAME)* ">"
parameter: pattern ":" type ("=" expression)?
record: ("struct" | "union" | "${kind}") NAME "{" (field ("," field)* ","?)? "}"
field: attribute* NAME ":" type
attribute: "@" NAME ("(" literal ")")?
constant: ("const" | "static") NAME ":" type "=" expression ";"
type: base | type "[" INTEGER? "]" | "(" type ("," type)* ")" | "&" "mut"? type
base: "int" | "float" | "bool" | "text" | "${unit}" | path ("<" type ("," type)* ">")?
pattern: NAME | "_" | "(" pattern ("," pattern)* ")"
block: "{" statement* "}"
statement: binding | expression? ";" | block | choice | loop | leave
binding: "let" "mut"? pattern (":" type)? ("=" expression)? ";"
choice: "if" expression block ("else" (choice | block))? | "match" expression "{" (arm ("," arm)*)? "}"
arm: (pattern | literal) ("if" expression)? "=>" (expression | block)
loop: "while" expression block | "for" pattern "in" expression (".." expression)? block | "loop" block
leave: ("return" expression? | "break" | "continue") ";"
expression: disjunction | place ("=" | "+=" | "-=" | "*=") expression
disjunction: conjunction | disjunction "||" conjunction
conjunction: comparison | conjunction "&&" comparison
comparison: sum | comparison ("==" | "!=" | "<" | ">" | "<=" | ">=") sum
sum: product | sum ("+" | "-" | "|") product
product: unary | product ("*" | "/" | "%") unary
unary: postfix | ("-" | "!" | "*" | "&") unary
postfix: primary | postfix "." NAME | postfix "(" (expression ("," expression)*)? ")" | postfix "[" expression "]" | postfix "?"
place: NAME ("." NAME | "[" expression "]")*
primary: literal | path | "(" expression ")" | "[" (expression ("," expression)*)? "]"
literal: INTEGER | FLOAT | STRING | CHARACTER | "true" | "false"
NAME: /[a-zA-Z_][a-zA-Z0-9_]*/
INTEGER: /[0-9]+/ | /0x[0-9a-fA-F]+/
FLOAT: /[0-9]+\\.[0-9]+([eE][+-]?[0-9]+)?/
STRING: /"([^"\\\\\\n]|\\\\.)*"/
CHARACTER: /'([^'\\\\\\n]|\\\\[nt'])'/
%ignore /[ \\t\\n]+/
%ignore /#[^\\n]*/
`
  return {
    input: { kind: "lark", text },
    texts: [
      `module ${b};\nconst ${c}: float = 1.5;\npub fn ${a}<T>(x: T, y: int = 2) {\n  if x == y { match y { 1 => x, _ => { break; } } } else { for i in 0..9 { ${c}(i)?.${a}; } }\n}\n`,
    ],
  }
}
