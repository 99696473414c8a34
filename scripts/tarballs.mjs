/** Packs each published package into a folder: `node scripts/tarballs.mjs [--build] FOLDER`. `--build` builds the packages first. */
import { execFileSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { join, resolve } from "node:path"
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
const packages = publishedFolders().map((each) => {
  pack(each, ["--pack-destination", folder])
  const { bin, description = "", name, peerDependencies = {}, version } = readManifest(each)
  return {
    bin,
    description,
    name,
    peers: Object.keys(peerDependencies),
    file: join(folder, `${name.slice(1).replace("/", "-")}-${version}.tgz`)
  }
})

/**
 * The line that installs a package: a program for every project, a library with its peers.
 * @param {typeof packages[number]} options
 */
const installLine = ({ bin, file, peers }) => {
  const words = [...peers.map((peer) => packages.find(({ name }) => name === peer)?.file ?? peer), file]
  const quoted = words.map((word) => /^[\w@./+:\\-]+$/.test(word) ? word : JSON.stringify(word))
  return `npm install ${[...bin === undefined ? [] : ["--global"], ...quoted].join(" ")}`
}

const lines = packages.map((each) => `# ${each.description}\n${installLine(each)}\n`)
process.stdout.write(`The tarballs are in ${folder}. To install a package, run one of:\n\n${lines.join("\n")}`)
