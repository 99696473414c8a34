/**
 * One run for every test of the repository, straight from the sources: no build comes before it, except for the tests that drive the built programs.
 */
import { defineConfig } from "vitest/config"

// The first one leads to the sources; the others are vite's own for Node, which a list given here replaces. All but "module": the runner hands
// these on to Node, which below 20.19 can't \`require\` the form that some packages keep under it.
const conditions = ["@plaza/source", "node", "development|production"]

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: [
      "{packages,apps}/*/test/**/*.test.ts",
      "examples/test/**/*.test.ts",
      "benchmarks/test/**/*.test.ts",
      "scripts/test/**/*.test.ts"
    ],
    setupFiles: ["./scripts/seeded.ts"],
    pool: "forks",
    poolOptions: { forks: { minForks: 1, maxForks: 2 } },
    allowOnly: false,
    // Many tests start processes; on a busy machine each takes seconds.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    reporters: ["default", "./scripts/SummaryReporter.ts"]
  }
})
