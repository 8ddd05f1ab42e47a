/**
 * The entry of a thread of walks: its priority is settled before it loads what it runs, which takes
 * a while itself.
 */
import { workerData } from "node:worker_threads"
import { makePatient, systemThread } from "./priority.ts"
import type { ThreadData } from "./protocol.ts"

if ((workerData as ThreadData).isPatient) makePatient(systemThread())
await import("./worker.ts")
