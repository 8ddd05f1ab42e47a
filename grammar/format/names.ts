/** The names of the formats that the drafts define. */

/**
 * The format of host names in drafts before 07, which do not mention `xn--`. No schema can write
 * this name by accident.
 */
export const PlainHostname = "hostname (RFC 1034)"

const formatNames = [
  ...(["date", "time", "date-time", "duration", "email", "idn-email", "hostname"] as const),
  ...([PlainHostname, "idn-hostname", "ipv4", "ipv6", "uri", "uri-reference", "iri"] as const),
  ...(["iri-reference", "uri-template", "json-pointer", "relative-json-pointer", "regex", "uuid"] as const),
] as const

export type FormatName = (typeof formatNames)[number]

/** Returns whether a draft defines this format. */
export function isFormat(name: string): name is FormatName {
  return (formatNames as readonly string[]).includes(name)
}
