/** The seed of a request without one, and the spelling of a seed in a reply. */

/** Returns a random seed of 53 bits, which survives the client's JSON.parse. */
export function randomSeed(): bigint {
  const [high, low] = crypto.getRandomValues(new Uint32Array(2))
  return (BigInt(high & 0x1fffff) << 32n) | BigInt(low)
}

/** Returns a number if JSON.parse preserves it, else its decimal digits. */
export function spellSeed(seed: bigint): number | string {
  return Number.isSafeInteger(Number(seed)) ? Number(seed) : String(seed)
}
