/** Python's `strftime` in the C locale. Templates use it to write the date. */

const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
const months = "January February March April May June July August September October November December".split(
  " ",
)

/** Formats a moment in local time; an unknown directive is kept. */
export function strftime(date: Date, format: string): string {
  const dayOfYear = Math.round(
    (Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) - Date.UTC(date.getFullYear(), 0, 0)) /
      86_400_000,
  )
  const hour12 = date.getHours() % 12 || 12
  const offset = -date.getTimezoneOffset()
  const zone = `${offset < 0 ? "-" : "+"}${pad(Math.floor(Math.abs(offset) / 60), 2)}${pad(Math.abs(offset) % 60, 2)}`
  const parts: Readonly<Record<string, string>> = {
    a: days[date.getDay()].slice(0, 3),
    A: days[date.getDay()],
    b: months[date.getMonth()].slice(0, 3),
    B: months[date.getMonth()],
    d: pad(date.getDate(), 2),
    e: String(date.getDate()).padStart(2),
    f: pad(date.getMilliseconds() * 1000, 6),
    h: months[date.getMonth()].slice(0, 3),
    H: pad(date.getHours(), 2),
    I: pad(hour12, 2),
    j: pad(dayOfYear, 3),
    m: pad(date.getMonth() + 1, 2),
    M: pad(date.getMinutes(), 2),
    n: "\n",
    p: date.getHours() < 12 ? "AM" : "PM",
    S: pad(date.getSeconds(), 2),
    t: "\t",
    u: String(date.getDay() || 7),
    w: String(date.getDay()),
    y: pad(date.getFullYear() % 100, 2),
    Y: String(date.getFullYear()),
    z: zone,
    Z: offset === 0 ? "UTC" : zone,
    "%": "%",
  }
  const wholes: Readonly<Record<string, string>> = { F: "%Y-%m-%d", T: "%H:%M:%S", R: "%H:%M", D: "%m/%d/%y" }
  const spelled = format.replace(/%([FTRD])/g, (_, kind: string) => wholes[kind])
  return spelled.replace(/%(-?)([a-zA-Z%])/g, (whole, minus: string, kind: string) => {
    const part = parts[kind]
    if (part === undefined) return whole
    return minus === "" ? part : part.replace(/^[0 ]+(?=.)/, "")
  })
}

function pad(value: number, digits: number): string {
  return String(value).padStart(digits, "0")
}
