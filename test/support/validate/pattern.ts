/**
 * `pattern` by the host's RegExp: the `u` grammar, else Annex B, unless the source uses escapes that Annex B would read
 * as plain letters.
 */
const known = new Map<string, RegExp>()

/** Throws SyntaxError for what is no pattern. */
export function hostRegExp(source: string): RegExp {
  let regexp = known.get(source)
  if (regexp === undefined) {
    regexp = construct(source)
    known.set(source, regexp)
  }
  return regexp
}

function construct(source: string): RegExp {
  try {
    return new RegExp(source, "u")
  } catch (error) {
    if (/\\(?:[pP]\{|u\{|k<)/.test(source)) throw error
    return new RegExp(source)
  }
}
