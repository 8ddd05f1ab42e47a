/**
 * Marks: the places of a slot's text to which a model with states can go back.
 *
 * Keys and values can be cut behind any token, a state cannot: it stands for all tokens before it.
 * So it is kept at the ends of some pieces of a prompt. Who cuts prompts and who keeps states are
 * two threads: both count by this rule, and need not ask each other.
 */

/**
 * `marks` and one behind them, `most` at most: of too many every other one goes, so that the later
 * ones lie closer.
 */
export function withMark<Mark>(marks: readonly Mark[], mark: Mark, most: number): Mark[] {
  const all = [...marks, mark]
  return all.length <= most ? all : all.filter((_, at) => at % 2 === 1 || at === all.length - 1)
}
