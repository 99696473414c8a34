/** Prints one last line after a test run, such as `12 passed, 0 failed`, for scripts that read the output. */
import { writeSync } from "node:fs"
import type { Reporter, TestModule } from "vitest/node"

/** Tests by outcome. A file that can't be loaded and an error outside any test count as one failed test each. */
export interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** Counts the tests of a run by outcome. */
export const count = (modules: ReadonlyArray<TestModule>, unhandled: number): Counts => {
  const counts = { passed: 0, failed: unhandled, skipped: 0 }
  for (const module of modules) {
    let failedHere = 0
    for (const test of module.children.allTests()) {
      const { state } = test.result()
      if (state === "passed") counts.passed++
      else if (state === "failed") failedHere++
      else counts.skipped++
    }
    counts.failed += module.state() === "failed" && failedHere === 0 ? 1 : failedHere
  }
  return counts
}

/** Formats the counts as one line. */
export const line = ({ failed, passed, skipped }: Counts): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`

export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandledErrors: ReadonlyArray<unknown>): void {
    const text = line(count(modules, unhandledErrors.length))
    // At exit and unbuffered, so that no output of vitest follows it.
    process.once("exit", () => writeSync(1, `${text}\n`))
  }
}
