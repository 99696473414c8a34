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

/** Tests of what runs on one version of Effect. */
interface Tests {
  readonly name: string
  readonly setupFiles: Array<string>
  readonly include: ReadonlyArray<string>
  /** Tests of what a process counts about itself. All others share processes, because to load the modules for each file would take minutes. */
  readonly alone: ReadonlyArray<string>
  /**
   * Tests that wait for real time most of the while: for timeouts, leases, databases and programs. They run side by side, after the others,
   * which need the whole machine.
   */
  readonly waiting: ReadonlyArray<string>
}

/** On Effect 4. */
export const effect4: Tests = {
  name: "effect 4",
  setupFiles: setup("packages/domain/test/TestSetup.ts"),
  include: [
    "packages/*/test/**/*.test.ts",
    "apps/*/test/**/*.test.ts",
    "examples/{src,test}/**/*.test.ts",
    // On Effect 3, without what the setup does.
    "examples/effect-3/test/**/*.test.ts",
    "benchmarks/test/**/*.test.ts",
    "deploy/test/**/*.test.ts",
    "site/test/**/*.test.ts",
    "scripts/test/**/*.test.ts"
  ],
  alone: ["packages/client/test/ContentEncoding.test.ts"],
  waiting: [
    "apps/cli/test/Endings.test.ts",
    "apps/cli/test/ImportKilled.test.ts",
    "apps/cli/test/Verify.test.ts",
    "apps/cli/test/VerifyContradictions.test.ts",
    "apps/stock-sync/test/Crash.test.ts",
    "apps/stock-sync/test/EarlySignals.test.ts",
    "apps/stock-sync/test/File.test.ts",
    "apps/stock-sync/test/FleetProgram.test.ts",
    "apps/stock-sync/test/ObservedProgram.test.ts",
    "apps/stock-sync/test/ProgramFailures.test.ts",
    "apps/stock-sync/test/Run.test.ts",
    "apps/stock-sync/test/SilentLedger.test.ts",
    "apps/stock-sync/test/SourceQueries.test.ts",
    "apps/stock-sync/test/Trouble.test.ts",
    "packages/client/test/ConnectionRelease.test.ts",
    "packages/client/test/ResponseSize.test.ts"
  ]
}

/** On Effect 3. */
export const effect3: Tests = {
  name: "effect 3",
  setupFiles: setup("scripts/TestSetup.ts"),
  include: ["legacy/*/test/**/*.test.ts"],
  alone: [
    "legacy/stock-sync/test/fleet/Metrics.test.ts",
    "legacy/client/test/Telemetry.test.ts",
    "legacy/client/test/TransportParity.test.ts"
  ],
  waiting: [
    "legacy/stock-sync/test/fleet/Failover.test.ts",
    "legacy/stock-sync/test/fleet/FirstStart.test.ts",
    "legacy/stock-sync/test/fleet/Ownership.test.ts",
    "legacy/stock-sync/test/fleet/Rights.test.ts",
    "legacy/stock-sync/test/fleet/RunnerPostgres.test.ts",
    "legacy/client/test/ConnectionRelease.test.ts",
    "legacy/client/test/ResponseSize.test.ts"
  ]
}

// Vitest starts new processes for each project.
const projectsOf = ({ alone, include, name, setupFiles, waiting }: Tests) => {
  const project = (test: object) => ({ extends: true as const, test: { setupFiles, ...test } })
  return [
    project({ name, include, exclude: ["**/node_modules/**", ...alone, ...waiting] }),
    project({ name: `${name}, waiting`, include: waiting, maxWorkers: 4, sequence: { groupOrder: 1 } }),
    ...alone.map((file) => project({ name: file, include: [file] }))
  ]
}

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    projects: [effect4, effect3].flatMap(projectsOf),
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
