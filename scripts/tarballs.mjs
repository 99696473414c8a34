/** Packs each published package into a folder: `node scripts/tarballs.mjs [--build] FOLDER`. `--build` builds the packages first. */
import { execFileSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { resolve } from "node:path"
import { pack, publishedFolders, readManifest } from "./manifest.mjs"

const [target, ...others] = process.argv.slice(2).filter((word) => word !== "--build")
if (target === undefined || target.startsWith("-") || others.length > 0) {
  process.stderr.write("Name one folder for the tarballs, such as ~/plaza-packages.\n")
  process.exit(2)
}
if (process.argv.includes("--build")) {
  const filters = publishedFolders().flatMap((each) => ["--filter", readManifest(each).name])
  execFileSync("npx", ["turbo", "run", "build", ...filters, "--output-logs=errors-only"], {
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: "1" },
    stdio: ["ignore", "inherit", "inherit"]
  })
}
const folder = resolve(target)
mkdirSync(folder, { recursive: true })
for (const each of publishedFolders()) pack(each, ["--pack-destination", folder])
process.stdout.write(`The tarballs are in ${folder}.\n`)
