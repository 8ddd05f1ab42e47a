/**
 * Internationalised host names: RFC 5890 to 5893 and Punycode (RFC 3492), on the host's Unicode properties.
 *
 * General_Category, Script and NFKC_Casefold stability come from `\p{}`. Joining_Type, Bidi_Class and the viramas are
 * not offered there: they are approximated from scripts and ranges, well enough for labels of one script.
 */
const separators = /[.\u3002\uff0e\uff61]/u

export function isIdnHostname(text: string): boolean {
  const labels = text.split(separators)
  let length = labels.length - 1
  for (const label of labels) {
    const ascii = asciiForm(label)
    if (ascii === null) return false
    length += ascii.length
  }
  // One right-to-left label puts the whole name under the rule.
  const decoded = labels.map((label) => [
    ...(/^xn--/i.test(label) ? (decodePunycode(label.slice(4).toLowerCase()) ?? "") : label),
  ])
  if (decoded.some(isRightToLeft) && !decoded.every(isBidiRuleKept)) return false
  return length <= 253
}

/** The label as it goes over the wire, or null for what is no label. */
function asciiForm(label: string): string | null {
  if (/^[\0-\x7f]*$/.test(label)) {
    if (!/^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/.test(label)) return null
    if (/^xn--/i.test(label)) return isALabel(label) ? label : null
    return /^..--/.test(label) ? null : label
  }
  if (!isULabel(label)) return null
  const ascii = `xn--${encodePunycode(label)}`
  return ascii.length <= 63 ? ascii : null
}

/** `xn--` labels: the rest decodes to a valid label, and encodes back. */
export function isALabel(label: string): boolean {
  const encoded = label.slice(4).toLowerCase()
  const decoded = decodePunycode(encoded)
  return (
    decoded !== null &&
    /[^\0-\x7f]/.test(decoded) &&
    label.length <= 63 &&
    isULabel(decoded) &&
    encodePunycode(decoded) === encoded
  )
}

function isULabel(label: string): boolean {
  if (!label.isWellFormed() || label.normalize("NFC") !== label) return false
  if (/^-|-$|^..--/u.test(label) || /^\p{M}/u.test(label)) return false
  const points = [...label]
  if (!points.every((point, i) => isValid(point) || isValidInContext(points, i))) return false
  return !isRightToLeft(points) || isBidiRuleKept(points)
}

// RFC 5892, section 2.6: the exceptions that are valid and those that are not.
const exceptionsValid = /[\u00df\u03c2\u06fd\u06fe\u0f0b\u3007]/u
const exceptionsInvalid = /[\u0640\u07fa\u302e\u302f\u3031-\u3035\u303b]/u
const oldHangul = /[\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7c6\ud7cb-\ud7fb]/u
const ignoredBlocks = /[\u20d0-\u20ff\u{1d100}-\u{1d24f}]/u
// biome-ignore lint/suspicious/noMisleadingCharacterClass: single code points are meant
const contextual = /[\u00b7\u0375\u05f3\u05f4\u200c\u200d\u30fb\u0660-\u0669\u06f0-\u06f9]/u

/** PVALID by RFC 5892, section 3. */
function isValid(point: string): boolean {
  if (exceptionsValid.test(point)) return true
  if (exceptionsInvalid.test(point) || contextual.test(point)) return false
  if (/[a-z0-9-]/.test(point)) return true
  if (/\p{Changes_When_NFKC_Casefolded}/u.test(point) || point.normalize("NFKC") !== point) return false
  if (/[\p{Default_Ignorable_Code_Point}\p{White_Space}\p{Noncharacter_Code_Point}]/u.test(point))
    return false
  if (ignoredBlocks.test(point) || oldHangul.test(point)) return false
  return /[\p{Ll}\p{Lu}\p{Lo}\p{Nd}\p{Lm}\p{Mn}\p{Mc}]/u.test(point)
}

const viramas = new RegExp(
  "[\\u094d\\u09cd\\u0a4d\\u0acd\\u0b4d\\u0bcd\\u0c4d\\u0ccd\\u0d3b\\u0d3c\\u0d4d\\u0dca\\u0e3a\\u0eba\\u0f84\\u1039" +
    "\\u103a\\u1714\\u1715\\u1734\\u17d2\\u1a60\\u1b44\\u1baa\\u1bab\\u1bf2\\u1bf3\\u2d7f\\ua806\\ua82c\\ua8c4\\ua953" +
    "\\ua9c0\\uaaf6\\uabed\\u{10a3f}\\u{11046}\\u{11070}\\u{1107f}\\u{110b9}\\u{11133}\\u{11134}\\u{111c0}\\u{11235}" +
    "\\u{112ea}\\u{1134d}\\u{11442}\\u{114c2}\\u{115bf}\\u{1163f}\\u{116b6}\\u{1172b}\\u{11839}\\u{119e0}\\u{11a34}" +
    "\\u{11a47}\\u{11a99}\\u{11c3f}\\u{11d44}\\u{11d45}\\u{11d97}]",
  "u",
)

/** CONTEXTJ and CONTEXTO: RFC 5892, appendix A. */
function isValidInContext(points: readonly string[], i: number): boolean {
  const point = points[i]
  const before = points[i - 1] ?? ""
  const after = points[i + 1] ?? ""
  const label = points.join("")
  if (point === "\u200d") return viramas.test(before)
  if (point === "\u200c") return viramas.test(before) || joins(points, i)
  if (point === "\u00b7") return before === "l" && after === "l"
  if (point === "\u0375") return /\p{Script=Greek}/u.test(after)
  if (point === "\u05f3" || point === "\u05f4") return /\p{Script=Hebrew}/u.test(before)
  if (point === "\u30fb") return /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u.test(label)
  if (/[\u0660-\u0669]/.test(point)) return !/[\u06f0-\u06f9]/.test(label)
  if (/[\u06f0-\u06f9]/.test(point)) return !/[\u0660-\u0669]/.test(label)
  return false
}

const transparent = /[\p{Mn}\p{Me}\p{Cf}]/u
const cursive =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Nko}\p{Script=Mongolian}\p{Script=Mandaic}\p{Script=Adlam}]/u
// Arabic and Syriac letters that join to the right only.
const rightJoining =
  /[\u0622-\u0625\u0627\u0629\u062f-\u0632\u0648\u0671-\u0673\u0675-\u0677\u0688-\u0699\u06c0\u06c3-\u06cb\u06cd\u06cf\u06d2\u06d3\u06d5\u06ee\u06ef\u0710\u0715-\u0719\u071e\u0728\u072a\u072c\u072f\u074d]/u
const nonJoining = /[\u0621\u0674\u06d4\u06dd\p{N}\p{P}]/u

/** A joining letter on both sides, marks between aside. */
function joins(points: readonly string[], i: number): boolean {
  let left = i - 1
  while (left >= 0 && transparent.test(points[left])) left--
  let right = i + 1
  while (right < points.length && transparent.test(points[right])) right++
  const a = points[left] ?? ""
  const b = points[right] ?? ""
  return (
    cursive.test(a) && !rightJoining.test(a) && !nonJoining.test(a) && cursive.test(b) && !nonJoining.test(b)
  )
}

function bidiClass(point: string): string {
  if (/[0-9\u06f0-\u06f9]/.test(point)) return "EN"
  if (
    /[\u0600-\u0605\u0660-\u0669\u066b\u066c\u06dd\u08e2\u{10d30}-\u{10d39}\u{10e60}-\u{10e7e}]/u.test(point)
  )
    return "AN"
  if (/[\u0cbf\u0cc6\u{11a07}\u{11a08}\u{11c3f}]/u.test(point)) return "L"
  if (/[\p{Mn}\p{Me}]/u.test(point)) return "NSM"
  if (point === "-") return "ES"
  if (/[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u.test(point)) return "AL"
  if (/[\u0590-\u08ff\ufb1d-\ufb4f\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u.test(point)) return "R"
  if (/[\u00b7\u02b9\u02ba\u02c6-\u02cf\u02ec\u0375\u2e2f\u30fb\ua67f\ua717-\ua71f\ua788]/.test(point))
    return "ON"
  return /[\p{Cf}]/u.test(point) ? "BN" : "L"
}

function isRightToLeft(points: readonly string[]): boolean {
  return points.some((point) => ["R", "AL", "AN"].includes(bidiClass(point)))
}

/** RFC 5893, section 2: binds every label of a name that holds a right-to-left label. */
function isBidiRuleKept(points: readonly string[]): boolean {
  const classes = points.map(bidiClass)
  const last = classes.filter((name) => name !== "NSM").at(-1) as string
  const only = (names: string) => classes.every((name) => names.split(" ").includes(name))
  if (classes[0] === "R" || classes[0] === "AL") {
    return (
      only("R AL AN EN ES CS ET ON BN NSM") &&
      ["R", "AL", "EN", "AN"].includes(last) &&
      !(classes.includes("EN") && classes.includes("AN"))
    )
  }
  return classes[0] === "L" && only("L EN ES CS ET ON BN NSM") && ["L", "EN"].includes(last)
}

// RFC 3492, section 5.
const Base = 36
const InitialBias = 72
const InitialPoint = 128

function adapt(delta: number, count: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? 700 : 2))
  rest += Math.floor(rest / count)
  let k = 0
  for (; rest > 455; k += Base) rest = Math.floor(rest / 35)
  return k + Math.floor((36 * rest) / (rest + 38))
}

const threshold = (k: number, bias: number) => Math.min(Math.max(k - bias, 1), 26)

function decodePunycode(text: string): string | null {
  const split = text.lastIndexOf("-")
  const output = split > 0 ? [...text.slice(0, split)].map((c) => c.charCodeAt(0)) : []
  let at = split > 0 ? split + 1 : 0
  let point = InitialPoint
  let bias = InitialBias
  for (let i = 0; at < text.length; i++) {
    const before = i
    for (let weight = 1, k = Base; ; k += Base) {
      const digit = "abcdefghijklmnopqrstuvwxyz0123456789".indexOf(text[at++] ?? " ")
      if (digit < 0) return null
      i += digit * weight
      const limit = threshold(k, bias)
      if (digit < limit) break
      weight *= Base - limit
    }
    const count = output.length + 1
    bias = adapt(i - before, count, before === 0)
    point += Math.floor(i / count)
    i %= count
    if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return null
    output.splice(i, 0, point)
  }
  return String.fromCodePoint(...output)
}

export function encodePunycode(text: string): string {
  const points = [...text].map((c) => c.codePointAt(0) as number)
  let output = String.fromCodePoint(...points.filter((point) => point < 128))
  const basicCount = output.length
  let done = basicCount
  if (done > 0) output += "-"
  let point = InitialPoint
  let bias = InitialBias
  let delta = 0
  while (done < points.length) {
    const next = Math.min(...points.filter((other) => other >= point))
    delta += (next - point) * (done + 1)
    point = next
    for (const other of points) {
      if (other < point) delta++
      if (other !== point) continue
      let rest = delta
      for (let k = Base; ; k += Base) {
        const limit = threshold(k, bias)
        if (rest < limit) break
        output += "abcdefghijklmnopqrstuvwxyz0123456789"[limit + ((rest - limit) % (Base - limit))]
        rest = Math.floor((rest - limit) / (Base - limit))
      }
      output += "abcdefghijklmnopqrstuvwxyz0123456789"[rest]
      bias = adapt(delta, done + 1, done === basicCount)
      delta = 0
      done++
    }
    delta++
    point++
  }
  return output
}
