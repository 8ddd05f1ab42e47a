/**
 * Marks: the places of a slot's text to which a model with states can return.
 *
 * Keys and values can be truncated behind any token. A state cannot, since it summarises all tokens
 * before it. So it is kept at the ends of some pieces of a prompt. Who cuts prompts and who keeps
 * states are two threads: both follow this rule, so they need no messages about it.
 */

/**
 * `marks` and one behind them, `most` at most: of too many every other one goes, so that the later
 * ones lie closer.
 */
export function withMark<Mark>(marks: readonly Mark[], mark: Mark, most: number): Mark[] {
  const all = [...marks, mark]
  return all.length <= most ? all : all.filter((_, at) => at % 2 === 1 || at === all.length - 1)
}
