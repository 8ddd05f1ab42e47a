/**
 * Texts near the grammars of the cases: a few pieces cut, put in, or taken from another place or another text. A small change
 * keeps most of what makes a text a grammar, so that both outcomes occur.
 */

type Random = () => number

/** What grammars of any notation are made of, and what they are not. */
const pieces = [
  ..."()[]{}|*+?.!<>\"'\\^-,=:#\n\r\t 09az_é💩\0\ud800".split(/(?!^)/u),
  ...'::= root|{2}|{0,3}|{,2}|{900}|{1,70}|[^a-z]|\\x41|\\u3042|<[1]>|<a>|!<[1]>|Regex("a*")|Substring("a", "b")'.split(
    "|",
  ),
  ...'TagDispatch(("a", root))|Token(1)|[lazy]|[greedy, max_chars=3]|[capture]|[max_tokens=2]|\na ::= root "b"|((('.split(
    "|",
  ),
]

/** A text that one change leads to from `text`; `others` are texts to take from. */
export function mutated(text: string, others: readonly string[], random: Random): string {
  const at = (length: number) => Math.floor(random() * (length + 1))
  // Mostly between two words, where more of what comes of it is a grammar.
  const near = at(text.length)
  const from = random() < 0.7 ? Math.max(text.indexOf(" ", near), 0) : near
  switch (Math.floor(random() * 5)) {
    case 0:
      return text.slice(0, from) + text.slice(from + 1 + at(4))
    case 1:
      return text.slice(0, from) + pieces[at(pieces.length - 1)] + text.slice(from)
    case 2:
      return text.slice(0, from) + pieces[at(pieces.length - 1)] + text.slice(from + 1)
    case 3: {
      const start = at(text.length)
      return text.slice(0, from) + text.slice(start, start + at(30)) + text.slice(from)
    }
    default: {
      const other = others[at(others.length - 1)]
      const start = at(other.length)
      return text.slice(0, from) + other.slice(start, start + at(60)) + text.slice(from)
    }
  }
}

const values: unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e9,
  "",
  "a",
  "<",
  "</a>",
  "é",
  [],
  {},
  [[]],
  { a: 1 },
]

/** A value near `value`: one place of it is changed, left out, written twice, or taken from one of `others`. */
export function mutatedJson(value: unknown, others: readonly unknown[], random: Random): unknown {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]
  const whole = { value: structuredClone(value) }
  const { owner, key } = pick(placesOf(whole))
  const old = owner[key]
  const other = { value: structuredClone(pick(others)) }
  const taken = pick(placesOf(other))
  const changes: (() => unknown)[] = [
    () => Array.isArray(owner) && owner.splice(Number(key), 1),
    () => Array.isArray(owner) && owner.push(structuredClone(old)),
    () => owner !== whole && !Array.isArray(owner) && delete owner[key],
    () => {
      owner[`${key}x`] = structuredClone(old)
    },
    () => {
      owner[key] = taken.owner[taken.key]
    },
    () => {
      owner[key] = pick(values)
    },
    () => {
      if (typeof old === "number") owner[key] = pick([old + 1, old - 1, -old, old * 1_000, old / 2])
      else if (typeof old === "string") owner[key] = mutated(old, [old, "a"], random)
    },
  ]
  pick(changes)()
  return whole.value
}

interface Place {
  owner: Record<string, unknown>
  key: string
}

/** Every value inside `owner`, by what holds it. */
function placesOf(owner: object): Place[] {
  const record = owner as Record<string, unknown>
  return Object.keys(owner).flatMap((key) => {
    const inner = record[key]
    return [{ owner: record, key }, ...(inner !== null && typeof inner === "object" ? placesOf(inner) : [])]
  })
}
