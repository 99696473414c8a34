/**
 * Runs all tests of the repository from the sources, in one run. Only the tests that start a program require its bundle.
 */
import { defineConfig } from "vitest/config"

// "@plaza/source" selects the sources. The others are Vite's defaults for Node, which this list replaces, without "module": vitest passes
// the conditions to Node, which below 20.19 can't `require` the ES modules that some packages export under it.
const conditions = ["@plaza/source", "node", "development|production"]

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: [
      "{packages,apps}/*/test/**/*.test.ts",
      "examples/{src,test}/**/*.test.ts",
      "benchmarks/test/**/*.test.ts",
      "scripts/test/**/*.test.ts",
      "deploy/test/**/*.test.ts",
      "site/test/**/*.test.ts"
    ],
    setupFiles: ["./scripts/TestSetup.ts"],
    pool: "forks",
    poolOptions: { forks: { isolate: false, minForks: 1, maxForks: 2 } },
    allowOnly: false,
    // Many tests start processes, which take seconds on a busy machine.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    reporters: ["default", "./scripts/SummaryReporter.ts"]
  }
})
