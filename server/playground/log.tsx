/** The stream as it came: each block of server-sent events. */
import type { VNode } from "preact"
import { Copyable } from "./code.tsx"
import type { Run } from "./run.ts"

/** Number of blocks that are shown, the last ones. */
const shown = 300

export function Log({ run }: { run: Run | null }): VNode {
  if (run === null || run.log.length === 0) return <p class="quiet">Run the request to see its stream.</p>
  return (
    <div>
      <p class="quiet">
        {run.log.length} events{run.log.length > shown ? `; the last ${shown} are shown` : ""}.
      </p>
      <Copyable text={run.log.slice(-shown).join("\n\n")} label="Events of the stream" />
    </div>
  )
}
