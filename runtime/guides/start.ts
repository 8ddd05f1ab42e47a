/**
 * Entry of a thread of walks. It sets the thread's priority before it loads the code, since loading
 * takes a while.
 */
import { workerData } from "node:worker_threads"
import { makePatient, systemThread } from "./priority.ts"
import type { ThreadData } from "./protocol.ts"

if ((workerData as ThreadData).isPatient) makePatient(systemThread())
await import("./worker.ts")
