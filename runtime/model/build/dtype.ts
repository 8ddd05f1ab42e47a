/** The types in which float weights are written when a model is built. */
import { ModelError } from "../../errors.ts"
import type { Dtype } from "../weights/blocks.ts"

/** 8 bits (default), 4 bits, unchanged. */
const builtDtypes: readonly Dtype[] = ["q8", "q4", "fp32"]

/**
 * Returns the type in which weights are written; `what` is the beginning of the error message.
 * Throws ModelError for another type.
 */
export function checkBuiltDtype(what: string, dtype: string | undefined): Dtype {
  const found = builtDtypes.find((each) => each === (dtype ?? "q8"))
  if (found !== undefined) return found
  throw new ModelError(
    `${what}: dtype ${dtype} exists only for ONNX graphs, and this model is built from its weights as ${builtDtypes.join(", ")}. Choose one of them, or leave it out`,
  )
}
