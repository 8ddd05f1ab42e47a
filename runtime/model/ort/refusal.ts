/**
 * Explains why onnxruntime does not load a graph, and what to do. Its messages depend on its
 * version, so an unknown message is passed on with a general hint.
 */

import { ModelError } from "../../errors.ts"

const ways: readonly [what: RegExp, way: string][] = [
  [
    /is not a registered function\/op|Could not find an implementation|NOT_IMPLEMENTED/,
    "This onnxruntime has no such operator on this device. Choose another dtype, or an export for onnxruntime's CPU",
  ],
  [
    /[Uu]nsupported model IR version|opset \d+ is under development|operator set version \d+/,
    "The graph is for a newer onnxruntime. Export it for an older opset",
  ],
  [
    /Protobuf parsing failed|does not have a graph|out of bounds|cannot be read in full|file_length|does not exist|External data/,
    "A file is incomplete or missing. Download it again, with all its data files",
  ],
]

/** Returns the error for a graph at `path` that could not be loaded. */
export function loadError(path: string, cause: Error): ModelError {
  const reason = cause.message
    .trim()
    .replace(/\.$/, "")
    // Removes the position in onnxruntime's source files, which does not help a user.
    .replaceAll(/\S+\.(?:cc|h):\d+ /g, "")
    .replaceAll(/onnxruntime::Model::Model\(.*\) (?=ModelProto)/g, "")
  const way = ways.find(([what]) => what.test(reason))?.[1]
  return new ModelError(`${path}: ${reason}. ${way ?? "Is the file complete? Download or export it again"}`, {
    cause,
  })
}
