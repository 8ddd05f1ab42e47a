/**
 * SHA-256 (FIPS 180-4) over bytes, synchronous and without a host library: `mask/` runs in a
 * browser, where the only digest is asynchronous. It identifies vocabularies, so speed hardly
 * matters: 2 MB take about 20 ms, once for each vocabulary. The round constants are the first 32
 * bits of the fractional parts of the cube roots of the first 64 primes, the start values those of
 * the square roots of the first 8; both are computed, which is shorter than a table and as exact.
 */

const primes: number[] = []
for (let n = 2; primes.length < 64; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n)

const fraction = (x: number): number => Math.floor((x - Math.floor(x)) * 2 ** 32)
const rounds = Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime)))
const start = Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime)))

/** Returns the digest as 64 hexadecimal digits. */
export function sha256(bytes: Uint8Array): string {
  const blockCount = ((bytes.length + 8) >>> 6) + 1
  const tail = new Uint8Array((blockCount << 6) - (bytes.length & ~63))
  tail.set(bytes.subarray(bytes.length & ~63))
  tail[bytes.length & 63] = 0x80
  const length = new DataView(tail.buffer)
  length.setUint32(tail.length - 8, Math.floor(bytes.length / 2 ** 29))
  length.setUint32(tail.length - 4, (bytes.length << 3) >>> 0)
  const hash = start.slice()
  const schedule = new Int32Array(64)
  const whole = bytes.length & ~63
  for (let at = 0; at < whole; at += 64) compress(hash, schedule, bytes, at)
  for (let at = 0; at < tail.length; at += 64) compress(hash, schedule, tail, at)
  return Array.from(hash, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("")
}

function compress(hash: Int32Array, w: Int32Array, bytes: Uint8Array, at: number): void {
  for (let i = 0; i < 16; i++) {
    const from = at + 4 * i
    w[i] = (bytes[from] << 24) | (bytes[from + 1] << 16) | (bytes[from + 2] << 8) | bytes[from + 3]
  }
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15]
    const y = w[i - 2]
    const s0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3)
    const s1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10)
    w[i] = (w[i - 16] + s0 + w[i - 7] + s1) | 0
  }
  let [a, b, c, d, e, f, g, h] = hash
  for (let i = 0; i < 64; i++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + rounds[i] + w[i]) | 0
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + t1) | 0
    d = c
    c = b
    b = a
    a = (t1 + t2) | 0
  }
  for (const [i, value] of [a, b, c, d, e, f, g, h].entries()) hash[i] = (hash[i] + value) | 0
}

function rotate(x: number, count: number): number {
  return (x >>> count) | (x << (32 - count))
}
