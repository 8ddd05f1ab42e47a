/**
 * The embedded model as a page loads it: bundlers copy files that are named in this way. The sums
 * are those of the package's files, so a kept copy of another version is fetched again.
 */

/** URLs of the files by their paths. They are relative to this file in dist/. */
export const embeddedFiles: Readonly<Record<string, string>> = {
  "config.json": new URL("../../../runtime/embedded/config.json", import.meta.url).href,
  "generation_config.json": new URL("../../../runtime/embedded/generation_config.json", import.meta.url).href,
  "tokenizer.json": new URL("../../../runtime/embedded/tokenizer.json", import.meta.url).href,
  "tokenizer_config.json": new URL("../../../runtime/embedded/tokenizer_config.json", import.meta.url).href,
  "onnx/model.onnx": new URL("../../../runtime/embedded/onnx/model.onnx", import.meta.url).href,
}

/** SHA-256 of each file. */
export const embeddedSums: Readonly<Record<string, string>> = {
  "config.json": "ac9adbcd3c6c75e017bb58bae5c826f548ac7aa29e31d97ac86a2e8f01c6be4e",
  "generation_config.json": "248131838b4c9585b3120ed78540a0718467261c2ffda31eea4b5bce98e75cd3",
  "tokenizer.json": "270d0d4e281e3a6379adb627e0d95f8beb11c96de1861e93a1ce1788c2887665",
  "tokenizer_config.json": "a6c8ec57f60bf0dcd525aebfa49a0daa718ccc1f1629b7f78029b5ee14db5647",
  "onnx/model.onnx": "7b6f7891b8973e235a62c6d6d243f07b05b1c9ebb296386b1944953e727ab06a",
}

/** SHA-256 of ort-wasm-simd-threaded.wasm of the onnxruntime-web that the worker contains. */
export const wasmSum = "3398c10d07d229bd91b364548e130e0e51a8e5704b88c7c083ebbeb78842dee2"
