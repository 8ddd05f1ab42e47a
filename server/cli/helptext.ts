/** The headings under which --help lists flags and commands, and the examples behind them. */

/** Headings of flags, in the order in which commands have them. */
export const groups = {
  constraint: "Constraint (one of them):",
  policies: "Spelling:",
  limits: "Limits:",
  model: "Model:",
  sampling: "Sampling and length:",
  prompt: "Prompt:",
  texts: "Texts:",
  access: "Address and access:",
  operation: "Operation:",
  server: "Server:",
  output: "Output:",
} as const

/** Returns the end of a command's help: command lines, without the name of the program. */
export function examples(...lines: readonly string[]): string {
  return [
    "",
    lines.length === 1 ? "Example:" : "Examples:",
    ...lines.map((line) => `  tokenrail ${line}`),
  ].join("\n")
}
