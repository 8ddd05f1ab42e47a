/** Programs of the thread that builds a model, for tests of everything around it: they write a directory of a few bytes. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"

export interface BuildProgram {
  /** Pieces of weights that are written. */
  readonly pieces?: number
  /** Milliseconds before each. */
  readonly pauseMs?: number
  /** What happens behind the pieces; default: the rest is written, and it is done. */
  readonly ends?: "fails" | "refuses" | "throws" | "exits" | "full disk" | "fills"
}

/** Writes the program into a folder. Its path. A line is added to `log.txt` there each time it runs. */
export function writeBuildProgram(
  folder: string,
  { pieces = 4, pauseMs = 0, ends }: BuildProgram = {},
): string {
  const path = join(folder, `build-${pieces}-${pauseMs}-${ends ?? "well"}.mjs`.replaceAll(" ", "-"))
  writeFileSync(
    path,
    `import { appendFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parentPort, workerData } from "node:worker_threads"
const { source, dtype, provider, folder } = workerData
appendFileSync(${JSON.stringify(join(folder, "log.txt"))}, \`\${process.pid} \${dtype} \${provider}\\n\`)
const say = (answer) => parentPort.postMessage(answer)
mkdirSync(folder)
const data = join(folder, "model.onnx.data")
const bytes = Buffer.alloc(1000)
const allBytes = ${pieces} * bytes.length
for (let at = 0; at < ${pieces}; at++) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${pauseMs})
  appendFileSync(data, bytes)
  say({ kind: "progress", doneBytes: (at + 1) * bytes.length, allBytes })
}
const failed = ({ message, code }) => say({ kind: "failed", message, code, isRefusal: false })
switch (${JSON.stringify(ends ?? "well")}) {
  case "fails":
    failed({ message: "EIO: i/o error, write", code: "EIO" })
    break
  case "refuses":
    say({ kind: "failed", message: "x.gguf: refused by name", isRefusal: true })
    break
  case "throws":
    throw new TypeError("not a function")
  case "exits":
    process.exit(7)
  case "full disk":
    symlinkSync("/dev/full", join(folder, "full"))
    try {
      writeFileSync(join(folder, "full"), bytes)
    } catch (error) {
      failed(error)
    }
    break
  case "fills":
    try {
      for (;;) appendFileSync(data, Buffer.alloc(100_000))
    } catch (error) {
      failed(error)
    }
    break
  default:
    for (const file of ["model.onnx", "config.json", "tokenizer.json"])
      writeFileSync(join(folder, file), readFileSync(source.path))
    say({ kind: "done" })
}
`,
  )
  return path
}
