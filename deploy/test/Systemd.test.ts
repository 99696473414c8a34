/** The systemd units, checked by `systemd-analyze` and against the program. */
import { Duration } from "effect"
import { spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { stderr } from "node:process"
import { describe, expect, it } from "vitest"
import { changed, commandProblems, folder, longestStop, manifest, port, read, variables } from "./support/program.ts"

const analyze = (...args: ReadonlyArray<string>) => spawnSync("systemd-analyze", args, { encoding: "utf8" })
const missing = analyze("--version").status === 0
  ? undefined
  : "systemd-analyze is not installed: install Debian's systemd to check the units"
if (missing !== undefined) stderr.write(`skipped: ${missing}\n`)

const units = readdirSync(Path.join(folder, "systemd")).filter((name) => name.endsWith(".service"))
const instances: Readonly<Record<string, string>> = { "plaza-stock-sync@.service": "shop", "plaza-stock-sync-fleet@.service": String(port) }

/** Checks a copy of a unit, with an instance if it is a template. */
const withUnit = <A>(name: string, text: string, check: (file: string) => A): A => {
  const temporary = mkdtempSync(Path.join(tmpdir(), "plaza-unit-"))
  try {
    const file = Path.join(temporary, name.replace("@.", `@${instances[name]}.`))
    // The check requires the program to exist at its path.
    writeFileSync(file, text.replace("/usr/bin/node", process.execPath))
    return check(file)
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

/** An unknown name is only a warning on standard error, with exit code 0. */
const verify = (name: string, text: string): string =>
  withUnit(name, text, (file) => {
    const { status, stderr, stdout } = analyze("verify", file)
    return `${stdout}${stderr}${status === 0 ? "" : `exit code ${status}`}`
  })

/** From 0, confined, to 10. */
const exposure = (name: string, text: string): number =>
  withUnit(name, text, (file) => {
    const { stdout } = analyze("security", "--offline=yes", "--no-pager", file)
    return Number(/Overall exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1])
  })

const entries = (text: string): ReadonlyArray<readonly [string, string]> =>
  Array.from(text.matchAll(/^([A-Z]\w+)=(.*)$/gm), ([, name = "", value = ""]) => [name, value] as const)

const seconds = (text: string | undefined): number => Number(/^(\d+)$/.exec(text ?? "")?.[1])

/** For how many seconds starts may fail before systemd gives the unit up, with its defaults for missing values. */
const longestOutage = (values: ReadonlyMap<string, string>): number => {
  if (values.get("Restart") !== "on-failure") return 0
  const value = (name: string, missing: string) => seconds(values.get(name) ?? missing)
  const interval = value("StartLimitIntervalSec", "10")
  const refusedAt = value("StartLimitBurst", "5") * value("RestartSec", "0")
  return interval === 0 || refusedAt >= interval ? Number.POSITIVE_INFINITY : refusedAt
}

const problems = (name: string, text: string): ReadonlyArray<string> => {
  const lines = entries(text)
  const values = new Map(lines)
  const [node = "", program = "", ...command] = values.get("ExecStart")?.split(" ") ?? []
  const credentials = lines.filter(([key]) => key === "LoadCredential").map(([, value]) => value.split(":")[0] ?? "")
  const set = lines.filter(([key]) => key === "Environment").map(([, value]) => value.split("=") as [string, string])
  const check = (holds: boolean, problem: string) => holds ? [] : [problem]
  const isOneshot = values.get("Type") === "oneshot"
  return [
    ...check(node === "/usr/bin/node" && Object.keys(manifest.bin).some((bin) => program === `/opt/${bin}/${bin}.cjs`),
      "the program has another name"),
    ...commandProblems(command.map((word) => word.replace("%i", instances[name] ?? ""))),
    ...set.flatMap(([variable]) => check(variables.has(variable), `${variable} is not a variable that a deployment sets`)),
    ...set.flatMap(([variable, value]) =>
      check(credentials.some((credential) => value === `%d/${credential}`), `${variable} names no credential`)
    ),
    ...check(isOneshot || seconds(values.get("TimeoutStopSec")) > Duration.toSeconds(longestStop), "the stop timeout is too short"),
    ...check(isOneshot || longestOutage(values) >= Duration.toSeconds("1 day"), "an outage of the database ends the restarts"),
    ...check(isOneshot || seconds(values.get("RestartSec")) >= 10, "a failing start is repeated without a pause")
  ]
}

describe("the systemd units", () => {
  it.each(units)("%s: is as the program requires", (name) => {
    expect(problems(name, read(`systemd/${name}`))).toEqual([])
  })

  it.runIf(missing === undefined).each(units)("%s: has only names and values that systemd knows, and is confined", (name) => {
    expect(verify(name, read(`systemd/${name}`))).toBe("")
    expect(exposure(name, read(`systemd/${name}`))).toBeLessThan(2)
  })

  it.runIf(missing === undefined).each([
    ["ProtectSystem=strict", "ProtectSytem=strict"],
    ["RestartSec=30", "RestartSec=often"],
    ["ExecStart=", "ExecStarts="],
    ["SystemCallFilter=@system-service", "SystemCallFilter=@services"]
  ])("with %j replaced by %j are refused by systemd", (from, to) => {
    const name = "plaza-stock-sync@.service"
    expect(verify(name, changed(read(`systemd/${name}`), from, to))).not.toBe("")
  })

  it.runIf(missing === undefined)("without a user of their own and a capability bound are too exposed", () => {
    const name = "plaza-stock-sync@.service"
    expect(exposure(name, changed(changed(read(`systemd/${name}`), "DynamicUser=yes\n", ""), "CapabilityBoundingSet=\n", "")))
      .toBeGreaterThan(2)
  })

  it.each([
    ["cjs run", "cjs start", "no command"],
    ["/opt/plaza-stock-sync/plaza", "/opt/plaza", "another name"],
    ["TimeoutStopSec=30", "TimeoutStopSec=10", "stop timeout"],
    ["LoadCredential=plaza-key", "LoadCredential=key", "names no credential"],
    ["Environment=PLAZA_API_KEY_FILE=", "Environment=PLAZA_API_KEY=", "PLAZA_API_KEY is not a variable that a deployment sets"],
    ["Restart=on-failure", "Restart=no", "ends the restarts"],
    ["StartLimitIntervalSec=0", "StartLimitIntervalSec=3600\nStartLimitBurst=60", "ends the restarts"],
    ["RestartSec=30", "RestartSec=1", "without a pause"]
  ])("with %j replaced by %j are refused", (from, to, problem) => {
    const name = "plaza-stock-sync@.service"
    expect(problems(name, changed(read(`systemd/${name}`), from, to)).join("\n")).toContain(problem)
  })
})

describe("the environment files", () => {
  it.each(["stock-sync.env.example", "fleet.env.example"])("%s: sets variables of the program", (name) => {
    const names = Array.from(read(`systemd/${name}`).matchAll(/^(\w+)=/gm), ([, variable = ""]) => variable)
    expect(names.length).toBeGreaterThan(1)
    expect(names.filter((variable) => !variables.has(variable))).toEqual([])
  })
})
