/**
 * Runs fuzz targets for a time with new seeds: `npm run fuzz -- TARGET [SECONDS]`. A target is the files of this name in the folders
 * `test/fuzz`, such as `feeds`; `all` runs one after the other. Without a target it prints their names.
 */
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import { basename, join } from "node:path"

/** @param {string} folder */
const filesIn = (folder) => existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
/** @type {Map<string, Array<string>>} */
const targets = new Map()
for (const file of ["packages", "apps"].flatMap(filesIn).flatMap((folder) => filesIn(join(folder, "test/fuzz")))) {
  const target = basename(file, ".test.ts")
  targets.set(target, [...targets.get(target) ?? [], file])
}
const [name = "", seconds = "60"] = process.argv.slice(2)
const files = name === "all" ? [...targets.values()].flat() : targets.get(name) ?? []

if (files.length === 0 || !/^\d+$/.test(seconds)) {
  process.stderr.write(`npm run fuzz -- TARGET [SECONDS], with all or one of: ${[...targets.keys()].join(", ")}\n`)
  process.exitCode = 2
} else {
  for (const file of files) {
    // A test runs for these seconds; a file has a few of them. The limit of memory ends a run that needs more and more of it.
    const { status } = spawnSync("npx", ["vitest", "run", file, `--testTimeout=${(Number(seconds) + 120) * 1_000}`], {
      stdio: "inherit",
      env: {
        ...process.env,
        PLAZA_FUZZ_SECONDS: seconds,
        PLAZA_PROPERTY_SEED: process.env["PLAZA_PROPERTY_SEED"] ?? "random",
        NODE_OPTIONS: `${process.env["NODE_OPTIONS"] ?? ""} --max-old-space-size=1024`
      }
    })
    if (status !== 0) process.exitCode = 1
  }
}
