/** Runs the property tests of every file with one seed, so that a run repeats the run before it. */
import { configureGlobal } from "fast-check"

configureGlobal({ seed: 1 })
