/**
 * The long forms of tests that check a release: `npm run test:nightly`. `PLAZA_NIGHTLY` selects them in these files, whose short forms run
 * with all other tests.
 */
import { defineConfig, mergeConfig } from "vitest/config"
import config from "./vitest.config.ts"

export default mergeConfig(
  { ...config, test: { ...config.test, projects: undefined } },
  defineConfig({
    test: {
      name: "nightly",
      include: [
        "apps/stock-sync/test/fleet/Failover.test.ts",
        "benchmarks/test/Short.test.ts",
        "scripts/test/Packages.test.ts"
      ],
      setupFiles: ["scripts/TestSetup.ts"],
      env: { PLAZA_NIGHTLY: "1" }
    }
  })
)
