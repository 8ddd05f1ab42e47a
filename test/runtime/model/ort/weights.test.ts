/** Weights in files of their own, behind the links of a cache: found, never copied, and never read from elsewhere. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join, relative } from "node:path"
import { beforeEach, describe, expect, test } from "vitest"
import { ModelError, open } from "../../../../runtime/index.ts"
import { dataFilesOf } from "../../../../runtime/model/ort/datafiles.ts"
import { placeGraph } from "../../../../runtime/model/ort/weights.ts"
import { writeTinyModel } from "../../../support/onnx.ts"

const dataFiles = ["model.onnx_data", "model.onnx_data_1"]
let root: string
let model: string
let onnx: string

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "weights-")))
  model = writeTinyModel(join(root, "models--acme--tiny/snapshots/abc"), { dataFiles })
  onnx = join(model, "onnx")
})

/** Moves a file to `place` below the root, and links to it. */
function linkTo(place: string, path: string): void {
  const real = join(root, place)
  mkdirSync(dirname(real), { recursive: true })
  renameSync(path, real)
  symlinkSync(relative(dirname(path), real), path)
}

const blob = (name: string) => `models--acme--tiny/blobs/${Buffer.from(name).toString("hex")}`

/** As the hub's tools lay a model out. */
function intoBlobs(files = ["model.onnx", ...dataFiles]): void {
  for (const file of files) linkTo(blob(file), join(onnx, file))
}

async function tokensOf(path = model): Promise<readonly number[]> {
  const engine = await open({ model: path, device: "cpu", threads: 1, slots: 2, isolation: "none" })
  const { tokens } = await engine.generate([1, 2, 3], { temperature: 0, maxTokens: 12, ignoreEos: true })
  await engine.close()
  return tokens
}

const refusal = async (path = model): Promise<string> => {
  const error = await tokensOf(path).then(
    () => null,
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(ModelError)
  return (error as ModelError).message
}

const graphPath = () => join(onnx, "model.onnx")

describe.skipIf(process.platform === "win32")("an engine opens a graph", () => {
  test.each<[name: string, lay: () => void]>([
    ["in the cache of the hub", () => intoBlobs()],
    ["that is a file, with weights in the cache", () => intoBlobs(dataFiles)],
    ["with one of two files in the cache", () => intoBlobs(["model.onnx", dataFiles[0]])],
    [
      "with weights in a folder below",
      () => linkTo("models--acme--tiny/snapshots/abc/onnx/deep/weights", join(onnx, dataFiles[0])),
    ],
    [
      "whose blobs are links to another disk",
      () => {
        intoBlobs()
        for (const file of dataFiles) linkTo(`disk/${file}`, join(root, blob(file)))
      },
    ],
    [
      "of which all blobs are on another disk",
      () => {
        intoBlobs()
        renameSync(join(root, "models--acme--tiny/blobs"), join(root, "disk"))
        symlinkSync(join(root, "disk"), join(root, "models--acme--tiny/blobs"))
      },
    ],
    [
      "whose folder is a link",
      () => {
        intoBlobs()
        renameSync(model, join(root, "models--acme--tiny/snapshots/other"))
        symlinkSync("other", model)
      },
    ],
    [
      "linked, file by file, to a folder that has nothing of a cache",
      () => {
        for (const file of ["model.onnx", ...dataFiles]) linkTo(`store/${file}`, join(onnx, file))
      },
    ],
  ])("%s: it writes what it writes elsewhere", async (_, lay) => {
    const expected = await tokensOf()
    lay()
    expect(await tokensOf()).toEqual(expected)
  })

  test("by a path through a link", async () => {
    intoBlobs()
    symlinkSync(model, join(root, "my-model"))
    expect(await tokensOf(join(root, "my-model"))).toEqual(await tokensOf())
  })

  test("whose embeddings are a graph of their own, both with weights in the cache", async () => {
    const source = "test/exports/qwen2_5_vl"
    const copy = join(root, "models--acme--see/snapshots/abc")
    cpSync(source, copy, { recursive: true })
    const expected = await tokensOf(copy)
    for (const file of ["decoder_model_merged.onnx", "embed_tokens.onnx"])
      linkTo(`models--acme--see/blobs/${file}`, join(copy, "onnx", file))
    expect(await tokensOf(copy)).toEqual(expected)
  })
})

describe.skipIf(process.platform === "win32")("refused are", () => {
  test("weights behind a link that leads out of the model", async () => {
    linkTo("elsewhere/secret", join(onnx, dataFiles[0]))
    expect(await refusal()).toMatch(
      /model\.onnx: its weights in .*model\.onnx_data are a link to .*elsewhere\/secret, outside of the model's folder.*Put the file itself, or a hard link/,
    )
  })

  test("weights behind a link in the cache to another model's", async () => {
    intoBlobs(["model.onnx", dataFiles[1]])
    linkTo("models--acme--other/blobs/secret", join(onnx, dataFiles[0]))
    expect(await refusal()).toMatch(/outside of the model's folder/)
  })

  test("weights that are missing", async () => {
    intoBlobs()
    rmSync(join(root, blob(dataFiles[1])))
    expect(await refusal()).toMatch(
      /its weights in .*model\.onnx_data_1 are missing\. Download the graph again/,
    )
  })
})

test.each(["../model.onnx_data", "a/../../model.onnx_data", "/etc/passwd", "../../../../etc/passwd"])(
  "a graph that names %s is refused",
  async (name) => {
    const path = writeTinyModel(mkdtempSync(join(tmpdir(), "weights-")), {
      dataFiles: [name.replace(/^\/etc/, "x")],
    })
    const graph = join(path, "onnx/model.onnx")
    const bytes = readFileSync(graph, "latin1").replaceAll("x/passwd", "/tc/pwd1")
    writeFileSync(graph, bytes, "latin1")
    expect(await refusal(path)).toMatch(/External data|absolute|escapes/i)
  },
)

describe("the place of a graph", () => {
  test("is its path where nothing leads elsewhere", () => {
    expect(placeGraph(graphPath())).toEqual({ model: graphPath(), folder: onnx })
    writeFileSync(join(onnx, "extra"), "")
    mkdirSync(join(onnx, "folder"))
    expect(placeGraph(graphPath())).toEqual({ model: graphPath(), folder: onnx })
  })

  test.skipIf(process.platform === "win32")("is where its weights are, and nothing is written", () => {
    expect(dataFilesOf(readFileSync(graphPath()))).toEqual(dataFiles)
    intoBlobs()
    const { model: bytes, folder } = placeGraph(graphPath())
    expect(folder).toBe(join(root, "models--acme--tiny/blobs"))
    expect(dataFilesOf(bytes as Uint8Array)).toEqual(dataFiles.map((file) => basename(blob(file))))
    expect(existsSync(join(folder, dataFiles[0]))).toBe(false)
  })

  test("is its path where the file is no graph", () => {
    writeFileSync(graphPath(), "no graph")
    mkdirSync(join(onnx, "folder"))
    expect(placeGraph(graphPath())).toEqual({ model: graphPath(), folder: onnx })
  })
})
