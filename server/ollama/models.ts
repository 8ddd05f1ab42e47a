/**
 * The loaded model as Ollama's clients see it: `/api/tags`, `/api/show` and `/api/ps`.
 *
 * Ollama's names have a tag, and a name without one means `:latest`. So the model is listed under
 * `<name>:latest`, and both spellings are accepted.
 */
import type { Engine } from "../../runtime/index.ts"
import { invalid, Refusal } from "../errors.ts"
import type { ModelNames } from "../openai/models.ts"
import { type EndpointOptions, readRequest } from "../openai/request/endpoint.ts"
import { version } from "../version.ts"
import { ollamaErrorResponse } from "./errors.ts"

const latest = ":latest"

/** Throws `Refusal` (404) with Ollama's sentence, by which clients recognise it. */
export function checkModel(name: string, models: ModelNames): void {
  const plain = name.endsWith(latest) ? name.slice(0, -latest.length) : name
  if (models.has(name) || models.has(plain)) return
  const known = models.all.map((each) => `'${each}'`).join(" or ")
  throw new Refusal("model_not_found", `model '${name}' not found`, {
    param: "model",
    hint: `Use ${known}, or start the server with --alias or --any-model`,
  })
}

/** Throws `Refusal` if the model has no known form of reasoning. */
export function checkThinks(name: string, engine: Engine): void {
  if (engine.model.thinks) return
  throw invalid("think", `: '${name}' does not support thinking`, "Leave it out, or send false")
}

/** Returns the reply of `/api/tags`. */
export async function listModels(engine: Engine, models: ModelNames): Promise<Response> {
  return Response.json({ models: await entries(engine, models) })
}

/** Returns the reply of `/api/ps`: the model is loaded as long as the server runs. */
export async function listRunning(engine: Engine, models: ModelNames): Promise<Response> {
  const running = (await entries(engine, models)).map((entry) => ({
    ...entry,
    expires_at: "9999-12-31T23:59:59Z",
    size_vram: 0,
    context_length: engine.model.contextLength,
  }))
  return Response.json({ models: running })
}

/** Replies to `/api/show`. Never rejects: every failure is a response. */
export async function showModel(
  engine: Engine,
  request: Request,
  options: EndpointOptions,
): Promise<Response> {
  try {
    const { model } = await readRequest("ollamaShow", request, options)
    checkModel(model, options.models)
    return Response.json(description(engine))
  } catch (error) {
    return ollamaErrorResponse(error, { noted: options.exchange.noted })
  }
}

function description(engine: Engine): object {
  const { contextLength, family, id, parameterCount, thinks } = engine.model
  const architecture = family === "" ? "unknown" : family
  const { plainSource, allSources } = engine.tokenizer.template
  return {
    license: "",
    modelfile: "",
    parameters: "",
    template: plainSource ?? "",
    details: detailsOf(engine),
    model_info: {
      "general.architecture": architecture,
      "general.basename": id,
      ...(parameterCount !== null && { "general.parameter_count": parameterCount }),
      [`${architecture}.context_length`]: contextLength,
      [`${architecture}.vocab_size`]: engine.model.tokenCount,
    },
    capabilities: [
      "completion",
      ...(/\btools\b/.test(allSources) ? ["tools"] : []),
      ...(thinks ? ["thinking"] : []),
    ],
    modified_at: modifiedAt(engine),
  }
}

async function entries(engine: Engine, models: ModelNames): Promise<object[]> {
  const digest = await digestOf(engine)
  return models.all.map((each) => {
    const name = each.includes(":") ? each : `${each}${latest}`
    const { weightBytes: size } = engine.model
    return { name, model: name, modified_at: modifiedAt(engine), size, digest, details: detailsOf(engine) }
  })
}

/** What the model's files do not say is empty, or `unknown` for the quantization. */
function detailsOf({ model: { family, fileType, parameterCount } }: Engine): object {
  return {
    parent_model: "",
    format: "onnx",
    family,
    families: family === "" ? [] : [family],
    parameter_size: parameterCount === null ? "" : parameterSize(parameterCount),
    quantization_level: fileType,
  }
}

/** Returns a number of parameters as Ollama writes it: 7.6B, 134.52M, 31K. */
export function parameterSize(count: number): string {
  const [unit, size, digits] = count >= 1e9 ? ["B", 1e9, 1] : count >= 1e6 ? ["M", 1e6, 2] : ["K", 1e3, 0]
  const number = count / size
  if (count < 1e3) return String(count)
  return `${number.toFixed(Number.isInteger(number) ? 0 : digits)}${unit}`
}

function modifiedAt({ model: { createdAt } }: Engine): string {
  return new Date(createdAt * 1000).toISOString()
}

/** Returns 64 hexadecimal digits that stay the same while the model is. */
async function digestOf({ model: { id, createdAt, weightBytes }, vocabulary }: Engine): Promise<string> {
  const text = [id, createdAt, weightBytes, vocabulary.hash].join("\n")
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")
}

export function ollamaVersion(): Response {
  return Response.json({ version })
}

/**
 * Replies to `GET /` with the text by which programs recognise Ollama, or with JSON if it is asked
 * for.
 */
export function ollamaRoot({ headers }: Request): Response {
  const wantsJson = (headers.get("accept") ?? "").includes("application/json")
  return wantsJson ? Response.json({ status: "ok" }) : new Response("Ollama is running")
}
