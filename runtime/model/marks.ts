/**
 * Marks: the token counts of a slot to which a model with states can be rewound.
 *
 * Keys and values can be truncated after any token. A state cannot, since it summarises all tokens
 * before it. So states are kept at the ends of some pieces of a prompt. One thread cuts prompts and
 * another keeps states: both follow this rule, so they need no messages about it.
 */

/**
 * Returns `marks` with another one appended, at most `most`. If there are too many, every other one
 * is removed, so that later marks lie closer together.
 */
export function withMark<Mark>(marks: readonly Mark[], mark: Mark, most: number): Mark[] {
  const all = [...marks, mark]
  return all.length <= most ? all : all.filter((_, at) => at % 2 === 1 || at === all.length - 1)
}
