/**
 * The long forms of tests that check a release: `npm run test:nightly`. `PLAZA_NIGHTLY` selects them in these files, whose short forms run
 * with all other tests.
 */
import { defineConfig, mergeConfig } from "vitest/config"
import config, { libraries, programs } from "./vitest.config.ts"

export default mergeConfig(
  { ...config, test: { ...config.test, projects: undefined } },
  defineConfig({
    test: {
      env: { PLAZA_NIGHTLY: "1" },
      projects: [
        {
          extends: true,
          test: {
            name: "nightly, programs",
            include: ["apps/stock-sync/test/fleet/Failover.test.ts", "scripts/test/Packages.test.ts"],
            setupFiles: programs.setupFiles
          }
        },
        {
          extends: true,
          test: { name: "nightly, libraries", include: ["benchmarks/test/Short.test.ts"], setupFiles: libraries.setupFiles }
        }
      ]
    }
  })
)
