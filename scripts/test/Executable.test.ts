/** The single-file executables, in an empty folder, with a PATH without Node. */
import * as Postgres from "@plaza/testing/Postgres"
import { Effect, Exit, Scope } from "effect"
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { createInterface } from "node:readline"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { withoutSymbols } from "../elf.mjs"
import { makeExecutable } from "../executable.mjs"
import { host, nodeOf } from "../node-package.mjs"

const folder = mkdtempSync(Path.join(tmpdir(), "plaza-executable-test-"))
const path = Path.join(folder, "bin")
const empty = Path.join(folder, "empty")
const running: Array<ChildProcess> = []
const env: Record<string, string> = { PATH: path, HOME: empty, STOCK_SYNC_SETTLE: "0s" }

const run = (program: string, args: ReadonlyArray<string>, options: { readonly input?: string; readonly env?: object } = {}) => {
  const { status, stderr, stdout } = spawnSync(Path.join(path, program), args, {
    cwd: empty,
    encoding: "utf8",
    env: { ...env, ...options.env },
    input: options.input ?? ""
  })
  return { status, stderr, stdout }
}

const start = (program: string, args: ReadonlyArray<string>, more: Readonly<Record<string, string>> = {}) => {
  const child = spawn(Path.join(path, program), args, { cwd: empty, env: { ...env, ...more }, stdio: ["pipe", "pipe", "pipe"] })
  running.push(child)
  return child
}

const lineOf = async (stream: NodeJS.ReadableStream, contains = ""): Promise<string> => {
  for await (const line of createInterface(stream)) if (line.includes(contains)) return line
  throw new Error("the program has ended")
}

const ended = async (child: ChildProcess, signal: NodeJS.Signals) => {
  child.kill(signal)
  // The cast is true: the event has the exit code, or null after a signal.
  const [code] = await once(child, "exit") as [number | null]
  return code
}

beforeAll(async () => {
  if (host === undefined) throw new Error(`the catalog has no Node for ${process.platform} on ${process.arch}`)
  for (const made of [path, empty]) mkdirSync(made)
  for (const name of ["plaza", "plaza-stock-sync"] as const) {
    symlinkSync(makeExecutable({ name, output: folder, target: host }), Path.join(path, name))
  }
  const sandbox = start("plaza", ["sandbox", "start", "--port", "0", "--json", "--quiet"])
  // The cast is true: the tests below fail for anything else.
  const { apiKey = "", baseUrl = "" } = JSON.parse(await lineOf(sandbox.stdout)) as Readonly<Record<string, string>>
  Object.assign(env, { PLAZA_API_KEY: apiKey, PLAZA_BASE_URL: baseUrl })
})

afterAll(() => {
  for (const child of running) child.kill("SIGKILL")
  rmSync(folder, { recursive: true, force: true })
})

describe("the executable of plaza", () => {
  it("prints its version, help and completions without Node on the PATH", () => {
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { readonly version: string }
    expect(run("plaza", ["--version"])).toEqual({ status: 0, stdout: `${version}\n`, stderr: "" })
    expect(run("plaza", ["help", "sandbox", "start"]).stdout).toContain("--exit-with-stdin")
    expect(run("plaza", ["completions", "bash"]).stdout).toContain("plaza")
  })

  it("calls the service", () => {
    expect(run("plaza", ["me", "--json"])).toMatchObject({
      status: 0,
      stderr: "",
      stdout: expect.stringContaining("corner-shop") as string
    })
  })

  it("imports a file, and continues with the record of the first run", () => {
    writeFileSync(Path.join(empty, "import.csv"), "productId,stock\nMUG-BLUE-350,3\n")
    const first = run("plaza", ["stock", "import", "import.csv", "--json"])
    expect(first).toMatchObject({ status: 0, stdout: expect.stringContaining("\"sent\":1") as string })
    const again = run("plaza", ["stock", "import", "import.csv", "--json"])
    expect(again).toMatchObject({ status: 0, stdout: expect.stringContaining("\"sent\":0") as string })
  })

  it("installs the skills that it contains", () => {
    expect(run("plaza", ["skills", "install", "--dir", "skills"])).toMatchObject({ status: 0 })
    expect(readFileSync(Path.join(empty, "skills/plaza/SKILL.md"), "utf8")).toMatch(/^---\nname: plaza\n/)
  })

  it("serves agents", () => {
    const initialize = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } }
    const input = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: initialize })}\n`
    const { status, stdout } = run("plaza", ["mcp"], { input })
    expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining("\"serverInfo\"") as string })
  })

  it("exits with 2 for an unknown command and with 1 for an exception of no command", () => {
    expect(run("plaza", ["nope"])).toMatchObject({ status: 2, stdout: "" })
    const exception = Path.join(empty, "exception.cjs")
    writeFileSync(exception, "setTimeout(() => { throw new Error('boom') }, 1)\n")
    const { status, stderr } = run("plaza", ["sandbox", "start", "--port", "0", "--quiet"], {
      env: { NODE_OPTIONS: `--require=${exception}` }
    })
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringMatching(/^plaza: internal error: boom\n/) as string })
  })

  it("exits with 143 after SIGTERM during a call, and with 0 if it runs until it is stopped", async () => {
    const silent = createServer().listen(0, "127.0.0.1")
    try {
      await once(silent, "listening")
      const address = silent.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const child = start("plaza", ["me"], { PLAZA_BASE_URL: `http://127.0.0.1:${port}/open/v1` })
      const [socket] = await once(silent, "connection") as [NodeJS.ReadableStream]
      socket.on("error", () => {})
      expect(await ended(child, "SIGTERM")).toBe(143)
    } finally {
      silent.close()
    }
    const sandbox = start("plaza", ["sandbox", "start", "--port", "0", "--json", "--quiet"])
    await lineOf(sandbox.stdout)
    expect(await ended(sandbox, "SIGTERM")).toBe(0)
  })
})

describe("the executable of plaza-stock-sync", () => {
  it("reads a file, and a database by starting itself", () => {
    writeFileSync(Path.join(empty, "stock.csv"), "productId,stock\nMUG-BLUE-250,8\n")
    const fromFile = run("plaza-stock-sync", ["once", "--source", "stock.csv", "--ledger", "file.sqlite"])
    expect(fromFile).toMatchObject({ status: 0, stdout: expect.stringContaining("confirmed\t1\n") as string })
    const database = new DatabaseSync(Path.join(empty, "shop.db"))
    database.exec("CREATE TABLE products (id TEXT, left INTEGER); INSERT INTO products VALUES ('MUG-BLUE-350', 12)")
    database.close()
    const query = ["--source", "sqlite:shop.db", "--query", "SELECT id AS productId, left AS stock FROM products"]
    const fromDatabase = run("plaza-stock-sync", ["once", ...query, "--ledger", "database.sqlite"])
    expect(fromDatabase).toMatchObject({ status: 0, stdout: expect.stringContaining("confirmed\t1\n") as string })
  })

  it("runs until it is stopped", async () => {
    const worker = start("plaza-stock-sync", ["run", "--source", "stock.csv", "--ledger", "run.sqlite", "--log-format", "json"])
    await lineOf(worker.stderr, "snapshot.accepted")
    expect(await ended(worker, "SIGTERM")).toBe(0)
  })

  it("runs a fleet", async () => {
    const scope = await Effect.runPromise(Scope.make())
    try {
      const { url } = await Effect.runPromise(Scope.provide(Postgres.scoped, scope))
      const fleet = { STOCK_SYNC_FLEET_DATABASE: url, STOCK_SYNC_FLEET_SECRET: "a secret of thirty-two characters!" }
      expect(run("plaza-stock-sync", ["fleet", "migrate"], { env: fleet })).toMatchObject({ status: 0 })
      const runner = start("plaza-stock-sync", ["fleet", "run", "--log-format", "json"], fleet)
      await lineOf(runner.stderr)
      expect(await ended(runner, "SIGTERM")).toBe(0)
    } finally {
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  })
})

describe("what an executable comes with", () => {
  it("has the manual, the list of what it contains with its Node, and all licences", () => {
    const beside = (name: string) => readFileSync(Path.join(folder, `plaza-${host ?? ""}`, name), "utf8")
    expect(beside("LICENSE")).toMatch(/^MIT License/)
    expect(beside("LICENSE-NODE")).toContain("Copyright Node.js contributors")
    expect(beside("THIRD-PARTY-LICENSES")).toContain("effect 4.")
    expect(beside("plaza.1")).toMatch(/^\.TH /m)
    expect(beside("sbom.cdx.json")).toContain(`pkg:npm/${nodeOf(host ?? "linux-x64").name}@${nodeOf(host ?? "linux-x64").version}`)
  })
})

describe("an executable for another processor", () => {
  const target = host === "linux-arm64" ? "linux-x64" : "linux-arm64"

  it("is made on this machine, for its processor, with the program in it", () => {
    const file = readFileSync(makeExecutable({ name: "plaza", output: folder, target }))
    expect(file.toString("latin1", 0, 6)).toBe("\x7fELF\x02\x01")
    expect(file.readUInt16LE(18)).toBe(target === "linux-arm64" ? 183 : 62)
    // Node reads its own program from a file whose fuse is blown.
    expect(file.includes("NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:1")).toBe(true)
    expect(file.includes("NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:0")).toBe(false)
    expect(file.includes("corner-shop")).toBe(true)
  })
})

describe("the script", () => {
  const script = fileURLToPath(new URL("../executable.mjs", import.meta.url))

  it("refuses an unknown program and an unknown target with its usage", () => {
    for (const words of [["plasa"], ["--target", "linux-riscv64"]]) {
      const { status, stderr } = spawnSync(process.execPath, [script, ...words], { encoding: "utf8" })
      expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringMatching(/^usage: node scripts\/executable\.mjs/) as string })
    }
  })

  it.runIf(process.platform === "linux")("removes the symbols of a program, and nothing that it runs on", () => {
    const stripped = Path.join(folder, "node")
    writeFileSync(stripped, withoutSymbols(readFileSync(process.execPath)), { mode: 0o755 })
    expect(statSync(stripped).size).toBeLessThan(statSync(process.execPath).size)
    expect(execFileSync(stripped, ["-p", "6 * 7"], { encoding: "utf8" })).toBe("42\n")
    expect(() => withoutSymbols(Buffer.from("#!/bin/sh\n"))).toThrow("no ELF program")
  })
})
