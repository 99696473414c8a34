/**
 * The long forms of tests that check a release: `npm run test:nightly`. `PLAZA_NIGHTLY` selects them in these files, whose short forms run
 * with all other tests.
 */
import { defineConfig, mergeConfig } from "vitest/config"
import config, { effect3, effect4 } from "./vitest.config.ts"

export default mergeConfig(
  { ...config, test: { ...config.test, projects: undefined } },
  defineConfig({
    test: {
      env: { PLAZA_NIGHTLY: "1" },
      projects: [
        {
          extends: true,
          test: {
            name: "nightly, effect 3",
            include: ["apps/stock-sync/test/fleet/Failover.test.ts", "scripts/test/Packages.test.ts"],
            setupFiles: effect3.setupFiles
          }
        },
        {
          extends: true,
          test: { name: "nightly, effect 4", include: ["benchmarks/test/Short.test.ts"], setupFiles: effect4.setupFiles }
        }
      ]
    }
  })
)
