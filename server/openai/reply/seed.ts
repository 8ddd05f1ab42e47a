/**
 * The seed of a request that brings none, and how a reply spells the seed that was used.
 */

/** 53 bits: the seed that is reported must survive JSON.parse on the other side. */
export function randomSeed(): bigint {
  const [high, low] = crypto.getRandomValues(new Uint32Array(2))
  return (BigInt(high & 0x1fffff) << 32n) | BigInt(low)
}

/** Returns a number if JSON.parse preserves it, else its decimal digits. */
export function spellSeed(seed: bigint): number | string {
  return Number.isSafeInteger(Number(seed)) ? Number(seed) : String(seed)
}
