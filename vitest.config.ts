import { defineConfig } from "vitest/config"

const pure = "test/{grammar,mask,sampler,support}/**"
/** Tests that load onnxruntime themselves send nothing either. */
const env = { ORT_DISABLE_TELEMETRY: "1" }
const setupFiles = ["test/support/seed.ts"]
const parallel = {
  ...{ env, setupFiles, maxWorkers: 2, sequence: { groupOrder: 0 } },
  ...{ testTimeout: 60_000, hookTimeout: 60_000 },
}
/**
 * `CORE=only` runs the tests of `grammar/` and `mask/` without the shortcuts of `mask/fast/`: masks
 * are walked as they are defined. No other file of that folder can be loaded then.
 */
const isCoreOnly = process.env.CORE === "only"
const withoutShortcuts = {
  name: "without-shortcuts",
  enforce: "pre" as const,
  load(id: string) {
    if (!isCoreOnly || !/\/mask\/fast\//.test(id) || /\/test\//.test(id)) return null
    if (id.endsWith("/shortcuts.ts")) return "export const shortcuts = () => null, shortcutNames = []"
    throw new Error(`${id} is imported with CORE=only: the core must not need it`)
  },
}

/**
 * One process that opens Dawn once and exits by itself, behind the others: projects of one group
 * share their workers.
 */
const gpu = {
  env,
  setupFiles,
  sequence: { groupOrder: 1 },
  globalSetup: ["test/support/sampler/adapter.ts"],
  maxWorkers: 1,
  fileParallelism: false,
  isolate: false,
  testTimeout: 120_000,
  hookTimeout: 60_000,
}

/**
 * `npm test` runs core, app and gpu; `long` and `gpu-long` hold what takes minutes, `full` what
 * takes hours. docs/tests.md says which suite is where.
 */
export default defineConfig({
  test: {
    projects: [
      // The pure floors: their tests share modules, and so the tables that all grammars of a process share.
      {
        plugins: [withoutShortcuts],
        test: {
          name: "core",
          include: [`${pure}/*.test.ts`],
          exclude: ["test/**/*.{gpu,long,full}*.test.ts", ...(isCoreOnly ? ["test/mask/fast/**"] : [])],
          isolate: false,
          ...parallel,
          setupFiles: [...setupFiles, "test/support/worlds.ts"],
        },
      },
      {
        test: {
          name: "app",
          include: ["test/**/*.test.ts"],
          exclude: [`${pure}/*.test.ts`, "test/**/*.{gpu,long,full}*.test.ts"],
          // Every file would import onnxruntime, hono and the rest anew: 100 s of the whole run.
          isolate: false,
          ...parallel,
        },
      },
      {
        test: {
          name: "gpu",
          include: ["test/**/*.gpu.test.ts"],
          exclude: ["test/**/*.long.gpu.test.ts"],
          ...gpu,
        },
      },
      { test: { name: "long", include: ["test/**/*.long.test.ts"], ...parallel, testTimeout: 300_000 } },
      { test: { name: "gpu-long", include: ["test/**/*.long.gpu.test.ts"], ...gpu } },
      {
        test: {
          name: "full",
          include: ["test/**/*.full.test.ts"],
          ...parallel,
          env: { ...env, TOKENRAIL_TESTS: "full" },
          testTimeout: 3_600_000,
        },
      },
    ],
  },
})
