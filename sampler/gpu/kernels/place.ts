/** Where a value lies: which bucket, and whether that is above, within or below the buckets in doubt. Monotone in it. */
export const place = /* wgsl */ `
fn bucketOf(known: Stat, value: f32) -> u32 {
  return u32(min(f32(Buckets - 1u), (known.zmax - value) * 32.0));
}

/** Of a value in buckets lo to hi. */
fn subBucketOf(known: Stat, value: f32) -> u32 {
  return u32(clamp(((known.zmax - value) * 32.0 - f32(known.lo)) * known.scale, 0.0, f32(Buckets - 1u)));
}

/** 0: surely kept; 1: in doubt, into the slab; 2: surely dropped. */
fn placeOf(known: Stat, value: f32) -> u32 {
  let bucket = bucketOf(known, value);
  if (bucket < known.lo) { return 0u; }
  if (bucket > known.hi) { return 2u; }
  if (known.scale == 0.0) { return 1u; }
  let sub = subBucketOf(known, value);
  if (sub < known.lo1) { return 0u; }
  return select(1u, 2u, sub > known.hi1);
}
`
