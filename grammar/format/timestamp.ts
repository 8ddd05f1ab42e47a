/**
 * RFC 3339 `full-date`, `full-time` and `date-time` as a machine over bytes.
 *
 * February has 29 days in years divisible by 4, but centuries only if divisible by 400, so the
 * state remembers the remainders of the year. A leap second is 23:59:60 in UTC, so after `:60` the
 * local time determines the offset, one for each sign: local − offset ≡ 23:59 (mod 24 h). So hour
 * and minute are remembered until the seconds are known.
 */
import { TupleTable } from "../intern.ts"
import { type ByteMachine, type ExprId, exprs, type TextLengths } from "../lexeme/expr/expr.ts"

// Places, with the values that they remember.
/** After the first digit of the year: that digit's remainder by 2. */
const Year = 0
const Year2 = 1
/** After two digits: 1 if the century is divisible by 4. */
const Year3 = 2
/** After three digits: the same, the last digit's remainder by 2, and 1 if it is zero. */
const Year4 = 3
/** 1 in leap years. */
const YearEnd = 4
const Month = 5
/** The month's first digit, 1 in leap years. */
const Month2 = 6
/** Days of the month. */
const MonthEnd = 7
const Day = 8
/** Days of the month, the day's first digit. */
const Day2 = 9
const DateEnd = 10
const Hour = 11
/** The hour's first digit. */
const Hour2 = 12
/** The hour. */
const HourEnd = 13
const Minute = 14
/** The hour, the minute's first digit. */
const Minute2 = 15
/** Minutes since midnight. */
const MinuteEnd = 16
const Second = 17
const Second2 = 18
/** After `6`: minutes since midnight. */
const LeapSecond = 19
/** Minutes since midnight of a leap second, or `AnyTime`. The next two places remember the same. */
const SecondEnd = 20
const Point = 21
const Fraction = 22
const ZoneHour = 23
/** The first digit of the hour. */
const ZoneHour2 = 24
const ZoneHourEnd = 25
const ZoneMinute = 26
const ZoneMinute2 = 27
/** A determined offset: its digits as a number, and how many of its characters have been read. */
const FixedZone = 28
const End = 29

const AnyTime = -1
const minutesADay = 1440
const daysOf = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const Zero = 0x30
/** `hh:mm:ssZ` */
const shortestTime = 9
const Unbounded = 0x7fffffff

/** Bytes from `low` to `high`, and the place after them. */
interface Way {
  readonly low: number
  readonly high: number
  readonly place: readonly number[]
}

function text(characters: string, ...place: number[]): Way[] {
  return [...characters].map((character) => {
    const byte = character.charCodeAt(0)
    return { low: byte, high: byte, place }
  })
}

function digits(low: number, high: number, placeAfter: (digit: number) => number[]): Way[] {
  const all: Way[] = []
  for (let d = low; d <= high; d++) all.push({ low: Zero + d, high: Zero + d, place: placeAfter(d) })
  return all
}

/**
 * Returns the ways to read the offset behind a time. `between` contains the other ways, whose bytes
 * lie between those of the signs and the letters.
 */
function zone(local: number, between: readonly Way[]): Way[] {
  if (local === AnyTime) return [...text("+-", ZoneHour), ...between, ...text("Zz", End)]
  const fixed = (minutes: number) => [FixedZone, 100 * Math.floor(minutes / 60) + (minutes % 60), 0]
  const plus = text("+", ...fixed((local + 1) % minutesADay))
  const minus = text("-", ...fixed(minutesADay - 1 - local))
  return [...plus, ...minus, ...between, ...(local === minutesADay - 1 ? text("Zz", End) : [])]
}

/** The ways that continue from each place. A place remembers up to three numbers. */
const ways: Readonly<Record<number, (a: number, b: number, c: number) => readonly Way[]>> = {
  [Year]: () => digits(0, 9, (d) => [Year2, d % 2]),
  [Year2]: (a) => digits(0, 9, (d) => [Year3, (2 * a + d) % 4 === 0 ? 1 : 0]),
  [Year3]: (a) => digits(0, 9, (d) => [Year4, a, d % 2, d === 0 ? 1 : 0]),
  [Year4]: (a, b, c) =>
    digits(0, 9, (d) => {
      const isCentury = c === 1 && d === 0
      return [YearEnd, (2 * b + d) % 4 === 0 && (!isCentury || a === 1) ? 1 : 0]
    }),
  [YearEnd]: (a) => text("-", Month, a),
  [Month]: (a) => digits(0, 1, (d) => [Month2, d, a]),
  [Month2]: (a, b) =>
    digits(a === 0 ? 1 : 0, a === 0 ? 9 : 2, (d) => {
      const month = 10 * a + d
      return [MonthEnd, month === 2 && b === 1 ? 29 : daysOf[month - 1]]
    }),
  [MonthEnd]: (a) => text("-", Day, a),
  [Day]: (a) => digits(0, Math.floor(a / 10), (d) => [Day2, a, d]),
  [Day2]: (a, b) => digits(b === 0 ? 1 : 0, b === Math.floor(a / 10) ? a % 10 : 9, () => [DateEnd]),
  [DateEnd]: () => text("Tt", Hour),
  [Hour]: () => digits(0, 2, (d) => [Hour2, d]),
  [Hour2]: (a) => digits(0, a === 2 ? 3 : 9, (d) => [HourEnd, 10 * a + d]),
  [HourEnd]: (a) => text(":", Minute, a),
  [Minute]: (a) => digits(0, 5, (d) => [Minute2, a, d]),
  [Minute2]: (a, b) => digits(0, 9, (d) => [MinuteEnd, 60 * a + 10 * b + d]),
  [MinuteEnd]: (a) => text(":", Second, a),
  [Second]: (a) => [...digits(0, 5, () => [Second2]), ...text("6", LeapSecond, a)],
  [Second2]: () => digits(0, 9, () => [SecondEnd, AnyTime]),
  [LeapSecond]: (a) => text("0", SecondEnd, a),
  [SecondEnd]: (a) => zone(a, text(".", Point, a)),
  [Point]: (a) => digits(0, 9, () => [Fraction, a]),
  [Fraction]: (a) =>
    zone(
      a,
      digits(0, 9, () => [Fraction, a]),
    ),
  [ZoneHour]: () => digits(0, 2, (d) => [ZoneHour2, d]),
  [ZoneHour2]: (a) => digits(0, a === 2 ? 3 : 9, () => [ZoneHourEnd]),
  [ZoneHourEnd]: () => text(":", ZoneMinute),
  [ZoneMinute]: () => digits(0, 5, () => [ZoneMinute2]),
  [ZoneMinute2]: () => digits(0, 9, () => [End]),
  [FixedZone]: (a, b) => {
    const offset = String(a).padStart(4, "0")
    const clock = `${offset.slice(0, 2)}:${offset.slice(2)}`
    return text(clock[b], ...(b + 1 === clock.length ? [End] : [FixedZone, a, b + 1]))
  },
  [End]: () => [],
}

class TimestampMachine implements ByteMachine {
  readonly start: number
  private readonly places = new TupleTable()
  /** Whether a text may end after the date. */
  private readonly isDateEnough: boolean

  constructor(start: number, isDateEnough: boolean) {
    this.isDateEnough = isDateEnough
    this.start = this.places.intern([start])
  }

  isAccepting(state: number): boolean {
    const at = this.places.at(state, 0)
    return at === End || (at === DateEnd && this.isDateEnough)
  }

  row(state: number): number[] {
    const [at, a = 0, b = 0, c = 0] = this.places.view(state)
    if (at === DateEnd && this.isDateEnough) return []
    return ways[at](a, b, c).flatMap(({ low, high, place }) => [low | (high << 8), this.places.intern(place)])
  }

  lengths(state: number): TextLengths {
    const [at, a = 0, b = 0] = this.places.view(state)
    if (at <= DateEnd) {
      const date = DateEnd - at
      if (this.isDateEnough) return { low: date, high: date, from: date, to: date }
      const low = date + 1 + shortestTime
      return { low, high: Unbounded, from: low + 2, to: Unbounded }
    }
    if (at >= ZoneHour) {
      const zone = at === FixedZone ? 5 - b : End - 1 - at
      const length = at === End ? 0 : zone
      return { low: length, high: length, from: length, to: length }
    }
    const isLeap = at >= LeapSecond && a !== AnyTime && a !== minutesADay - 1
    const zone = isLeap ? 6 : 1
    const clock = at < LeapSecond ? Second2 + 1 - at : at === LeapSecond || at === Point ? 1 : 0
    const low = clock + zone
    // A fraction takes at least two characters.
    return { low, high: Unbounded, from: at < Point ? low + 2 : low, to: Unbounded }
  }
}

export function dateExpr(): ExprId {
  return exprs.machine(new TimestampMachine(Year, true))
}

export function timeExpr(): ExprId {
  return exprs.machine(new TimestampMachine(Hour, false))
}

export function dateTimeExpr(): ExprId {
  return exprs.machine(new TimestampMachine(Year, false))
}
