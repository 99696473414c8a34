/** Runs the programs of a folder against a sandbox, on any system, and installs their tarballs by npm for it. */
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { createInterface } from "node:readline"

const isWindows = process.platform === "win32"
const quiet = ["--no-audit", "--no-fund", "--loglevel=error"]

/** @param {unknown} holds @param {string} problem */
const check = (holds, problem) => {
  if (holds !== true) throw new Error(problem)
}

/**
 * Ends a program and the shell that Windows starts it with.
 * @param {import("node:child_process").ChildProcess} program
 */
const end = async (program) => {
  const ended = once(program, "close")
  if (isWindows) execFileSync("taskkill", ["/pid", String(program.pid), "/t", "/f"], { stdio: "ignore" })
  else program.kill()
  await ended
}

/**
 * Runs both programs as a user does. Throws if something does not work.
 * @param {object} options
 * @param {string} options.folder a folder for files
 * @param {string} options.path the PATH that has the programs
 * @param {string} options.version that of the programs
 */
export const runPrograms = async ({ folder, path, version }) => {
  // A command of npm is a script for a shell on Windows.
  const options = { cwd: folder, env: { ...process.env, PATH: path }, encoding: /** @type {const} */ ("utf8"), shell: isWindows }
  /** @type {Record<string, string | undefined>} */
  const env = { ...options.env, HOME: folder, USERPROFILE: folder }
  const programs = { ...options, env }
  /** @param {string} command @param {ReadonlyArray<string>} args */
  const run = (command, ...args) => execFileSync(command, args, { ...programs, stdio: ["ignore", "pipe", "inherit"] })

  check(run("plaza", "--version") === `${version}\n`, "plaza prints another version")
  writeFileSync(join(folder, "stock.csv"), "productId,stock\nMUG-BLUE-350,12\n")
  const sandbox = spawn("plaza", ["sandbox", "start", "--port", "0", "--json", "--quiet"], {
    ...programs,
    stdio: ["ignore", "pipe", "inherit"]
  })
  try {
    for await (const line of createInterface(sandbox.stdout)) {
      // The cast is true: the checks below fail for anything else.
      const { apiKey, baseUrl } = /** @type {Readonly<Record<string, string>>} */ (JSON.parse(line))
      Object.assign(env, { PLAZA_BASE_URL: baseUrl, PLAZA_API_KEY: apiKey })
      break
    }
    check(run("plaza", "me", "--json").includes(`"corner-shop"`), "plaza me prints another account")
    check(run("plaza-stock-sync", "once", "--source", "stock.csv").includes("confirmed\t1\n"), "plaza-stock-sync confirms nothing")
    check(run("plaza-stock-sync", "once", "--source", "stock.csv").includes("unchanged\t1\n"), "plaza-stock-sync has no ledger")
  } finally {
    await end(sandbox)
  }
  // Windows ends a process without a signal that it could handle.
  check(isWindows || sandbox.exitCode === 0, "the sandbox does not stop with 0")
}

/**
 * Throws if something does not work. Returns what was checked, in words.
 * @param {object} options
 * @param {string} options.folder an empty folder
 * @param {string} options.node
 * @param {readonly [command: string, worker: string]} options.tarballs
 * @param {string} options.version that of the programs
 */
export const installAndRun = async ({ folder, node, tarballs, version }) => {
  const prefix = join(folder, "prefix")
  const path = [isWindows ? prefix : join(prefix, "bin"), dirname(node), process.env["PATH"]].join(delimiter)
  const options = { cwd: folder, env: { ...process.env, PATH: path }, encoding: /** @type {const} */ ("utf8"), shell: isWindows }
  execFileSync("npm", ["install", "--global", "--prefix", prefix, ...quiet, ...tarballs], {
    ...options,
    stdio: ["ignore", "ignore", "inherit"]
  })
  await runPrograms({ folder, path, version })
  const npx = execFileSync("npx", ["--yes", "--package", tarballs[0], "plaza", "--version"], options)
  check(npx === `${version}\n`, "npx prints another version")
  return `Node ${
    execFileSync(node, ["-p", "process.versions.node"], { encoding: "utf8" }).trim()
  } on ${process.platform}: installed and run\n`
}
