/**
 * Runs all tests of the repository from the sources, in one run. Only the tests that start a program require its bundle.
 */
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

// "@plaza/source" selects the sources. The others are Vite's defaults for Node, which this list replaces, without "module": vitest passes
// the conditions to Node, which below 20.19 can't `require` the ES modules that some packages export under it.
const conditions = ["@plaza/source", "node", "development|production"]

// Absolute, because Vitest finds a relative one in an outer clone first.
const setup = (file: string) => [fileURLToPath(new URL(file, import.meta.url))]
const setupFiles = setup("scripts/TestSetup.ts")

/** Tests of what a process counts about itself. All others share processes, because to load the modules for each file would take minutes. */
const alone = [
  "apps/stock-sync/test/Documentation.test.ts",
  "apps/stock-sync/test/Prometheus.test.ts",
  "apps/stock-sync/test/fleet/Metrics.test.ts",
  "packages/client/test/Telemetry.test.ts",
  "packages/client/test/TransportParity.test.ts"
]

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
  "apps/stock-sync/test/File.test.ts",
  "apps/stock-sync/test/ObservedProgram.test.ts",
  "apps/stock-sync/test/ProgramFailures.test.ts",
  "apps/stock-sync/test/Run.test.ts",
  "apps/stock-sync/test/SilentLedger.test.ts",
  "apps/stock-sync/test/SourceQueries.test.ts",
  "apps/stock-sync/test/fleet/Failover.test.ts",
  "apps/stock-sync/test/fleet/FirstStart.test.ts",
  "apps/stock-sync/test/fleet/Ownership.test.ts",
  "apps/stock-sync/test/fleet/Rights.test.ts",
  "apps/stock-sync/test/fleet/RunnerPostgres.test.ts",
  "packages/client/test/ConnectionRelease.test.ts",
  "packages/client/test/ResponseSize.test.ts"
]

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: "shared",
          setupFiles,
          include: [
            "{packages,apps}/*/test/**/*.test.ts",
            "examples/{src,test}/**/*.test.ts",
            "benchmarks/test/**/*.test.ts",
            "scripts/test/**/*.test.ts",
            "deploy/test/**/*.test.ts",
            "site/test/**/*.test.ts"
          ],
          exclude: ["**/node_modules/**", ...alone, ...waiting]
        }
      },
      {
        extends: true,
        test: {
          name: "next",
          include: ["next/*/test/**/*.test.ts"],
          setupFiles: setup("next/domain/test/TestSetup.ts")
        }
      },
      { extends: true, test: { name: "waiting", include: waiting, setupFiles, maxWorkers: 4, sequence: { groupOrder: 1 } } },
      // Vitest starts new processes for each project.
      ...alone.map((file) => ({ extends: true as const, test: { name: file, include: [file], setupFiles } }))
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
