/**
 * A GPU in software for tests: SwiftShader's Vulkan driver and a Vulkan loader, as a development package carries them.
 *
 * They are unpacked once into node_modules/.cache. `LD_LIBRARY_PATH` is read when a process starts, so the environment
 * that `swiftshaderEnvironment` returns has to be given to a process, not set in a running one.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join, resolve } from "node:path"
import { brotliDecompressSync } from "node:zlib"

const driver = "vk_swiftshader_icd.json"

/** Variables under which Dawn finds the software adapter; undefined where the package has none for this platform. */
export function swiftshaderEnvironment(): Record<string, string> | undefined {
  const folder = unpackSwiftshader()
  if (!folder) return undefined
  const { LD_LIBRARY_PATH } = process.env
  return {
    VK_DRIVER_FILES: join(folder, driver),
    VK_ICD_FILENAMES: join(folder, driver),
    LD_LIBRARY_PATH: LD_LIBRARY_PATH ? `${LD_LIBRARY_PATH}:${folder}` : folder,
    XDG_RUNTIME_DIR: process.env.XDG_RUNTIME_DIR ?? folder,
  }
}

/** The folder with driver and loader; undefined where there is none. 0.1 s the first time. */
function unpackSwiftshader(): string | undefined {
  if (process.platform !== "linux" || process.arch !== "x64") return undefined
  const folder = resolve("node_modules/.cache/swiftshader")
  if (existsSync(join(folder, driver))) return folder
  const archive = archivePath()
  if (!archive) return undefined
  // Two processes may unpack at once: each does so aside, and the first to rename wins.
  const aside = `${folder}-${process.pid}`
  mkdirSync(aside, { recursive: true })
  for (const [name, bytes] of readTar(brotliDecompressSync(readFileSync(archive)))) {
    writeFileSync(join(aside, name), bytes)
  }
  try {
    renameSync(aside, folder)
  } catch {
    rmSync(aside, { recursive: true })
  }
  return existsSync(join(folder, driver)) ? folder : undefined
}

function archivePath(): string | undefined {
  try {
    const entry = createRequire(import.meta.url).resolve("@sparticuz/chromium")
    for (let folder = dirname(entry); folder !== dirname(folder); folder = dirname(folder)) {
      const path = join(folder, "bin/swiftshader.tar.br")
      if (existsSync(path)) return path
    }
  } catch {
    // The package is not installed: there is no software adapter.
  }
  return undefined
}

/** Files of a ustar archive. Blocks of 512 bytes: a header with name, octal size and type, then the content. */
function* readTar(tar: Buffer): Generator<[name: string, bytes: Buffer]> {
  for (let at = 0; at + 512 <= tar.length; ) {
    const name = tar.toString("latin1", at, tar.indexOf(0, at))
    const size = Number.parseInt(tar.toString("latin1", at + 124, at + 135), 8)
    const isFile = tar[at + 156] === 0x30 || tar[at + 156] === 0
    if (name === "") return
    const start = at + 512
    if (isFile) yield [name.replace(/^.*\//, ""), tar.subarray(start, start + size)]
    at = start + 512 * Math.ceil(size / 512)
  }
}
