/**
 * The long forms of tests that check a release: `npm run test:nightly`. `PLAZA_NIGHTLY` selects them in these files, whose short forms run
 * with all other tests.
 */
import { defineConfig, mergeConfig } from "vitest/config"
import config, { setupFiles } from "./vitest.config.ts"

export default mergeConfig(
  { ...config, test: { ...config.test, projects: undefined } },
  defineConfig({
    test: {
      env: { PLAZA_NIGHTLY: "1" },
      include: ["apps/stock-sync/test/fleet/Failover.test.ts", "benchmarks/test/Short.test.ts", "scripts/test/Packages.test.ts"],
      setupFiles
    }
  })
)
