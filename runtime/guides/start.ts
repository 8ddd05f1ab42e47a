/**
 * The entry of a thread of walks: sets its priority before it loads its code, since loading takes a
 * while.
 */
import { workerData } from "node:worker_threads"
import { makePatient, systemThread } from "./priority.ts"
import type { ThreadData } from "./protocol.ts"

if ((workerData as ThreadData).isPatient) makePatient(systemThread())
await import("./worker.ts")
