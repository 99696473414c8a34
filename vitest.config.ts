/**
 * Runs all tests of the repository from the sources, in one run. Only the tests that start a program require its bundle.
 */
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

// "@plaza/source" selects the sources. The others are Vite's defaults for Node, which this list replaces, without "module": vitest passes
// the conditions to Node, which below 20.19 can't `require` the ES modules that some packages export under it.
const conditions = ["@plaza/source", "node", "development|production"]

// Absolute, because Vitest finds a relative one in an outer clone first.
export const setupFiles = [fileURLToPath(new URL("scripts/TestSetup.ts", import.meta.url))]

const include = [
  "packages/*/test/**/*.test.ts",
  "apps/*/test/**/*.test.ts",
  "examples/{src,test}/**/*.test.ts",
  // On Effect 3, without what the setup does.
  "examples/effect-3/test/**/*.test.ts",
  "benchmarks/test/**/*.test.ts",
  "deploy/test/**/*.test.ts",
  "site/test/**/*.test.ts",
  "scripts/test/**/*.test.ts"
]

/** Tests of what a process counts about itself. All others share processes, because to load the modules for each file would take minutes. */
const alone = ["apps/stock-sync/test/fleet/Metrics.test.ts", "packages/client/test/ContentEncoding.test.ts"]

/**
 * Tests that wait for real time most of the while: for timeouts, leases, databases and programs. They run side by side, after the others,
 * which need the whole machine.
 */
const waiting = [
  "apps/cli/test/Endings.test.ts",
  "apps/cli/test/ImportKilled.test.ts",
  "apps/cli/test/Verify.test.ts",
  "apps/cli/test/VerifyContradictions.test.ts",
  "apps/stock-sync/test/Crash.test.ts",
  "apps/stock-sync/test/EarlySignals.test.ts",
  "apps/stock-sync/test/File.test.ts",
  "apps/stock-sync/test/ObservedProgram.test.ts",
  "apps/stock-sync/test/ProgramFailures.test.ts",
  "apps/stock-sync/test/Run.test.ts",
  "apps/stock-sync/test/SilentLedger.test.ts",
  "apps/stock-sync/test/SourceQueries.test.ts",
  "apps/stock-sync/test/Trouble.test.ts",
  "apps/stock-sync/test/fleet/Failover.test.ts",
  "apps/stock-sync/test/fleet/FirstStart.test.ts",
  "apps/stock-sync/test/fleet/LedgerConnections.test.ts",
  "apps/stock-sync/test/fleet/LedgerFencing.test.ts",
  "apps/stock-sync/test/fleet/Ownership.test.ts",
  "apps/stock-sync/test/fleet/Rights.test.ts",
  "apps/stock-sync/test/fleet/RunnerPostgres.test.ts",
  "packages/client/test/ConnectionRelease.test.ts",
  "packages/client/test/ResponseSize.test.ts"
]

// Vitest starts new processes for each project.
const project = (test: object) => ({ extends: true as const, test: { setupFiles, ...test } })

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    projects: [
      project({ name: "tests", include, exclude: ["**/node_modules/**", ...alone, ...waiting] }),
      project({ name: "waiting", include: waiting, maxWorkers: 4, sequence: { groupOrder: 1 } }),
      ...alone.map((file) => project({ name: file, include: [file] }))
    ],
    pool: "forks",
    isolate: false,
    maxWorkers: 2,
    allowOnly: false,
    // Many tests start processes, which take seconds on a busy machine.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    reporters: ["default", "./scripts/SummaryReporter.ts"]
  }
})
