/** Seeded choices, and names and sentences made of them: the same number gives the same samples everywhere. */

const nouns =
  "account address agent alarm amount anchor article asset author badge balance banner basket batch bill block board booking branch bridge budget buffer button cabin cable camera card cargo carrier case category channel chart clinic cluster code color column comment company contact container contract copy counter coupon course cover credit currency customer dashboard dataset deadline delivery deposit detail device diagram document domain driver edge email employee engine entry event export factor feature feed field file filter flag flight folder form frame gate grade grid group guest handle harbor header height host hour icon image index input invoice issue item job key label lane layer layout lead lease ledger length letter level license limit line link list listing loan location lock log machine map margin market matrix measure member memo menu message meter metric mirror model module month motor name network node note notice number object offer office option order origin outlet output owner package page panel parcel parent part partner patient payment period permit phone photo picture pipe place plan plant plate player point policy pool port portal post price printer priority process product profile project quota range rate reader reason receipt record region release remark rent report request reserve resource response result review reward risk role room route rule sale sample schedule scope score screen season seat section sensor series server service session shape share shelf shift ship signal site size slot source space stage station status step stock storage store street studio subject summary supplier switch symbol system table tag target task tax team template tenant term text theme ticket time title token tool topic total tower trace track trade train trip truck type unit update upload user value vendor version video view visit volume voucher wallet warehouse week weight window worker zone".split(
    " ",
  )
const modifiers =
  "actual active allowed annual archived attached available average backup base billing blocked cached central closed common current custom daily default delayed direct display draft early empty enabled end estimated expected external extra final first fixed free full global hidden home hourly initial inner internal is last late latest legacy linked local locked main manual max merged min minimum mobile monthly nested net new next nominal normal old open optional original outer overall parent partial past pending planned preferred previous primary prior private public raw real recent regional related remote required reserved root rounded safe second secondary secret selected shared short signed simple single skipped special start static stored sub temporary tertiary total trusted unique unused upper urgent valid verified virtual visible weekly yearly".split(
    " ",
  )
const fillers =
  "the a of to in for with by when if that this which each and or not only at least must may be is are set used given shown kept sent read written before after until while every other".split(
    " ",
  )
const beyondAscii = [
  "größe",
  "prénom",
  "año",
  "naïve",
  "Zürich",
  "København",
  "名前",
  "价格",
  "имя",
  "ημερομηνία",
  "🚀",
  "½",
]

export type NameStyle = "camel" | "snake" | "kebab" | "pascal" | "spaced"

export const nameStyles: readonly NameStyle[] = ["camel", "snake", "kebab", "pascal", "spaced"]

export class Dice {
  private state: number

  constructor(seed: number) {
    this.state = Math.imul(seed + 1, 0x9e3779b1) | 0 || 1
  }

  /** A number from `least` to `most`. */
  from(least: number, most: number): number {
    return least + this.below(most - least + 1)
  }

  /** A number from 0 to `count` - 1. */
  below(count: number): number {
    // Marsaglia's xorshift.
    let x = this.state
    x ^= x << 13
    x ^= x >>> 17
    x ^= x << 5
    this.state = x
    return (x >>> 0) % count
  }

  /** True in `percent` of a hundred cases. */
  is(percent: number): boolean {
    return this.below(100) < percent
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]
  }

  /** Entries of `list` in their order, each with the chance of `percent`. */
  some<T>(list: readonly T[], percent: number): T[] {
    return list.filter(() => this.is(percent))
  }

  shuffled<T>(list: readonly T[]): T[] {
    const all = [...list]
    for (let i = all.length - 1; i > 0; i--) {
      const j = this.below(i + 1)
      const other = all[j]
      all[j] = all[i]
      all[i] = other
    }
    return all
  }

  noun(): string {
    return this.pick(nouns)
  }

  /** A key as one of the styles spells it. */
  name(style: NameStyle = "camel"): string {
    const words = [this.pick(modifiers), this.noun()]
    if (this.is(30)) words.push(this.noun())
    else if (this.is(40)) words.shift()
    if (this.is(12)) words.push(String(this.from(2, 99)))
    return spell(words, style)
  }

  /** Names that differ. Some begin alike. */
  names(count: number, style: NameStyle = "camel"): string[] {
    const found = new Set<string>()
    while (found.size < count) {
      const name = this.name(style)
      found.add(name)
      if (this.is(15) && found.size < count) found.add(spell([name, this.noun()], style))
    }
    return [...found]
  }

  /** `count` words, lower case, with a space between them. */
  words(count: number): string {
    return Array.from({ length: count }, () => (this.is(45) ? this.pick(fillers) : this.noun())).join(" ")
  }

  /** A sentence or two with what people and models write: quotes, dashes, line ends, characters beyond ASCII. */
  sentence(): string {
    const text = this.words(this.from(2, 14))
    const first = text[0].toUpperCase() + text.slice(1)
    switch (this.below(12)) {
      case 0:
        return `${first} "${this.noun()}".`
      case 1:
        return `${first} (${this.pick(beyondAscii)}), ${this.words(3)}.`
      case 2:
        return `${first}:\n- ${this.words(2)}\n- ${this.words(2)}`
      case 3:
        return `${first}; see C:\\${this.noun()}\\${this.noun()}.txt`
      case 4:
        return `${first}\t${this.from(1, 9999)}`
      case 5:
        return `${first}? ${this.pick(beyondAscii)} — ${this.pick(beyondAscii)}!`
      default:
        return `${first}.`
    }
  }
}

function spell(words: readonly string[], style: NameStyle): string {
  const upper = (word: string) => word[0].toUpperCase() + word.slice(1)
  switch (style) {
    case "camel":
      return words[0] + words.slice(1).map(upper).join("")
    case "pascal":
      return words.map(upper).join("")
    case "snake":
      return words.join("_")
    case "kebab":
      return words.join("-")
    case "spaced":
      return words.map(upper).join(" ")
  }
}
