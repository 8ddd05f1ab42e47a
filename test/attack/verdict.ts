/** The end of each program: what was found, and the exit code. */

export interface Verdict {
  /** Empty: the server withstood. */
  faults: readonly string[]
  figures: Record<string, unknown>
  /** Prints one line of JSON last, for a program that reads it. */
  isJson: boolean
}

export function report(name: string, { faults, figures, isJson }: Verdict): void {
  console.log(faults.length === 0 ? `${name}: passed` : `${name}: FAILED, ${faults.length} faults`)
  for (const fault of faults) console.log(`  ${fault}`)
  if (isJson) console.log(JSON.stringify({ name, faults, figures }))
  process.exitCode = faults.length === 0 ? 0 : 1
}
