/** Weights → what a model directory is built of, from headers alone. All that can be refused is refused here. */
import { ModelError } from "../../errors.ts"
import type { ModelSource } from "../hub/source.ts"
import { openGguf } from "../weights/gguf.ts"

/** Throws ModelError where the weights are refused. */
export async function inspect({ kind, path }: ModelSource): Promise<void> {
  if (kind === "safetensors")
    throw new ModelError(`${path}: safetensors are not served. Choose an ONNX export`)
  const gguf = await openGguf(path)
  const { metadata } = gguf
  gguf.close()
  throw new ModelError(
    `${path}: architecture ${JSON.stringify(metadata.get("general.architecture"))} is not served. Choose an ONNX export`,
  )
}
