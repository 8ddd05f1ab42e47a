/**
 * The code of the thread of `encoder.ts`: it takes one text at a time and answers with its ids or
 * the refusal. It is started from `dist`.
 */
import { parentPort, workerData } from "node:worker_threads"
import { parseVocabulary } from "../../mask/index.ts"
import { packError } from "../guides/protocol.ts"
import { readModelDirectory } from "../model/folder.ts"
import { Tokenizer } from "../model/tokenizer.ts"
import { encodeText, type PromptAnswer, type PromptText } from "./encoder.ts"
import type { PromptThread } from "./thread.ts"

const port = parentPort!
const { model, dtype, width } = workerData as PromptThread
const directory = await readModelDirectory(model, dtype)
const { tokenizerJson, tokenizerConfig, endIds } = directory
const options = { endIds, ...(width !== undefined && { width }) }
const tokenizer = new Tokenizer(directory, parseVocabulary(tokenizerJson, tokenizerConfig, options))
port.postMessage("ready")

port.on("message", (text: PromptText) => {
  port.postMessage("begun")
  let answer: PromptAnswer
  try {
    answer = { ids: [...encodeText(tokenizer, text)] }
  } catch (error) {
    answer = { error: packError(error) }
  }
  port.postMessage(answer)
})
