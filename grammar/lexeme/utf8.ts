/**
 * UTF-8 as a small automaton, for machines over bytes that accept any character beyond ASCII: what
 * may follow a lead byte (RFC 3629, section 4: no overlong forms, no surrogates, nothing above
 * U+10FFFF).
 */

/** What is left of a character. 0: nothing, a character may begin. */
export type Utf8Rest = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7

/**
 * Lead bytes of characters of several bytes, ascending: first, last, bytes of the character, its
 * rest.
 */
export const utf8Leads: readonly (readonly [low: number, high: number, size: number, rest: Utf8Rest])[] = [
  [0xc2, 0xdf, 2, 1],
  [0xe0, 0xe0, 3, 4],
  [0xe1, 0xec, 3, 2],
  [0xed, 0xed, 3, 5],
  [0xee, 0xef, 3, 2],
  [0xf0, 0xf0, 4, 6],
  [0xf1, 0xf3, 4, 3],
  [0xf4, 0xf4, 4, 7],
]

/**
 * The one range of bytes that a rest reads, and the rest after it. Indexed by rest; 0 reads none.
 */
export const utf8Tails: readonly (readonly [low: number, high: number, next: Utf8Rest])[] = [
  [0, -1, 0],
  [0x80, 0xbf, 0],
  [0x80, 0xbf, 1],
  [0x80, 0xbf, 2],
  [0xa0, 0xbf, 1],
  [0x80, 0x9f, 1],
  [0x90, 0xbf, 2],
  [0x80, 0x8f, 2],
]
