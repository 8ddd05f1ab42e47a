import { defineConfig } from "vitest/config"

// `core` runs in parallel. `gpu` is one process that opens Dawn once and exits by itself.
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "core",
          include: ["test/**/*.test.ts"],
          exclude: ["test/**/*.gpu.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: "gpu",
          include: ["test/**/*.gpu.test.ts"],
          globalSetup: ["test/support/sampler/adapter.ts"],
          maxWorkers: 1,
          fileParallelism: false,
          isolate: false,
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
})
