/**
 * URI references by RFC 3986: split (appendix B) and resolved against a base (5.2), without the
 * rules of single schemes, so that `http:`, `file:` and `urn:` are alike. With an empty base, the
 * result is the reference itself.
 */

interface Uri {
  scheme: string | undefined
  authority: string | undefined
  path: string
  query: string | undefined
  fragment: string | undefined
}

const parts = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#([\s\S]*))?$/

function parseUri(text: string): Uri {
  const [, scheme, authority, path, query, fragment] = parts.exec(text) as RegExpExecArray
  return { scheme, authority, path, query, fragment }
}

function printUri({ scheme, authority, path, query, fragment }: Uri): string {
  let text = scheme === undefined ? "" : `${scheme}:`
  if (authority !== undefined) text += `//${authority}`
  text += path
  if (query !== undefined) text += `?${query}`
  return fragment === undefined ? text : `${text}#${fragment}`
}

/** Resolves a reference by RFC 3986, 5.2.2, strict. */
export function resolveUri(base: string, reference: string): string {
  const r = parseUri(reference)
  if (r.scheme !== undefined) return printUri({ ...r, path: removeDots(r.path) })
  const b = parseUri(base)
  if (r.authority !== undefined) return printUri({ ...r, scheme: b.scheme, path: removeDots(r.path) })
  const { scheme, authority } = b
  const { fragment } = r
  if (r.path === "") return printUri({ scheme, authority, path: b.path, query: r.query ?? b.query, fragment })
  const path = r.path.startsWith("/") ? r.path : mergePaths(b, r.path)
  // Without a base nothing can be relative: `../a.json` stays as the caller wrote it.
  const bare = scheme === undefined && authority === undefined && b.path === ""
  return printUri({ scheme, authority, path: bare ? path : removeDots(path), query: r.query, fragment })
}

function mergePaths(base: Uri, path: string): string {
  if (base.authority !== undefined && base.path === "") return `/${path}`
  return base.path.slice(0, base.path.lastIndexOf("/") + 1) + path
}

/** Removes dot segments by RFC 3986, 5.2.4, one segment at a time. */
function removeDots(path: string): string {
  if (!path.includes(".")) return path
  const rooted = path.startsWith("/")
  const segments = (rooted ? path.slice(1) : path).split("/")
  const kept: string[] = []
  for (const [i, segment] of segments.entries()) {
    const last = i === segments.length - 1
    if (segment === "..") kept.pop()
    else if (segment !== ".") {
      kept.push(segment)
      continue
    }
    if (last) kept.push("")
  }
  return (rooted ? "/" : "") + kept.join("/")
}

/** Returns the URI without its fragment, and the fragment as written ("" if there is none). */
export function splitFragment(uri: string): [string, string] {
  const at = uri.indexOf("#")
  return at < 0 ? [uri, ""] : [uri.slice(0, at), uri.slice(at + 1)]
}

/** Decodes percent-encoded UTF-8. Text that is not well-formed is returned unchanged. */
export function decodeFragment(fragment: string): string {
  if (!fragment.includes("%")) return fragment
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
}

/** Encodes one reference token of a JSON pointer, RFC 6901. */
export function encodeToken(token: string | number): string {
  if (typeof token === "number") return `${token}`
  if (!token.includes("~") && !token.includes("/")) return token
  return token.replaceAll("~", "~0").replaceAll("/", "~1")
}

export function decodeToken(token: string): string {
  return token.includes("~") ? token.replaceAll("~1", "/").replaceAll("~0", "~") : token
}
