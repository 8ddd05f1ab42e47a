/**
 * Access: the API keys, one of which a request must carry, and the host names that mean this
 * machine.
 *
 * An empty key would admit every caller without a key, so every empty key is an error. Host names
 * are parsed as in browsers, by `URL`. So a name that only begins or ends like a loopback address
 * is not one, and every spelling of an address means that address.
 */

import { Refusal } from "../errors.ts"

/** Returns the keys without surrounding white space. Throws RangeError if a key is empty. */
export function readKeys(keys: readonly string[]): string[] {
  const read = keys.map((key) => key.trim())
  if (read.includes("")) throw new RangeError("an API key is empty: give one, or leave it out")
  return read
}

/**
 * Returns the index of the key that the request carries; −1 if the server has no keys. Rejects with
 * `Refusal` (401) if the request carries none of them.
 */
export async function checkKey(request: Request, keys: readonly string[]): Promise<number> {
  if (keys.length === 0) return -1
  const { headers } = request
  const [, bearer] = /^bearer +(.*\S)/i.exec(headers.get("authorization") ?? "") ?? []
  // Clients of Anthropic's API send the latter.
  const given = bearer ?? headers.get("x-api-key") ?? ""
  const digests = await Promise.all([given, ...keys].map(sha256))
  // All keys are compared in full, so that the time reveals nothing about them.
  const matches = digests.slice(1).map((digest) => equalBytes(digest, digests[0]))
  if (matches.includes(true)) return matches.indexOf(true)
  throw new Refusal("invalid_api_key", given ? "the API key is wrong" : "an API key is required", {
    hint: "Send authorization: Bearer <key>",
    headers: { "www-authenticate": "Bearer" },
  })
}

/**
 * Returns whether a host name, without a port, means this machine: 127/8, ::1, localhost and its
 * subdomains.
 */
export function isLoopback(host: string): boolean {
  const address = host.includes(":") ? `[${host.replace(/^\[(.*)\]$/, "$1")}]` : host
  // Characters with a special meaning in a URL are not part of a host name.
  if (!/^(\[[\da-f:.]+\]|[\w.-]+)$/i.test(address) || !URL.canParse(`http://${address}`)) return false
  const { hostname } = new URL(`http://${address}`)
  return /^(127(\.\d+){3}|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\]|(.+\.)?localhost)$/.test(hostname)
}

/** Names by which containers and virtual machines call the machine that they run on. */
const hostNames = new Set([
  ...["host.docker.internal", "gateway.docker.internal", "host.containers.internal"],
  ...["host.orb.internal", "host.lima.internal", "host.minikube.internal", "host.k3d.internal"],
])

/**
 * Returns whether only this machine or its own network can call this server by the host name: a
 * loopback name, a name of the local network (`.local`, which no public name server answers), or a
 * container's name of its host.
 */
export function isLocalName(host: string): boolean {
  if (isLoopback(host)) return true
  const name = host.toLowerCase()
  return hostNames.has(name) || /^(?!-)[a-z\d_-]+(\.[a-z\d_-]+)*\.local$/.test(name)
}

async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)))
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.reduce((difference, byte, i) => difference | (byte ^ b[i]), 0) === 0
}
