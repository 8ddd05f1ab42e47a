/** Regular expressions and choices that are small enough for brute force. */

export const regexes: [pattern: string, alphabet: string, flags?: string][] = [
  ["a*b+", "ab"],
  ["(a|ab)(c|bcd)", "abcd"],
  ["[^a]*", "aäb"],
  [".{2}", "aä💩\n"],
  ["(?=a)\\w+(?<!b)", "ab_"],
  ["(?!ab).*", "abc"],
  ["\\ba\\b.*", "a b"],
  ["a{2,3}|b{0,1}", "ab"],
  ["", "a"],
  ["^a$|b", "ab"],
  ["A|ä", "aAÄä", "iu"],
  ["a.b", "ab\n", "su"],
  ["(?:a|b)*abb", "ab"],
  ["\\u{1f4a9}?[ä-ö]", "ö💩ä"],
  ["\\p{Lu}\\p{Ll}*", "Aäb1"],
]

export const choices = [
  ["abc", "abd", "x"],
  ["a", "ab", "abc", ""],
  ["ä", "ö", "aä€💩"],
  ["true", "false", "tru"],
  ["\n", "\u0000", '"'],
]
