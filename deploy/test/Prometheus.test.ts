/** The alerts and the scrape configuration, checked by Prometheus's own tool. Their metrics are compared in `apps/stock-sync/test`. */
import { Schema } from "effect"
import { spawnSync } from "node:child_process"
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { stderr } from "node:process"
import { describe, expect, it } from "vitest"
import { parse, stringify } from "yaml"
import { changed, folder, port, read, repository } from "./support/program.ts"

const run = (...args: ReadonlyArray<string>) => spawnSync("promtool", args, { encoding: "utf8" })
const missing = run("--version").status === 0 ? undefined : "promtool is not installed: install Debian's prometheus to check the alerts"
if (missing !== undefined) stderr.write(`skipped: ${missing}\n`)

/** Runs the tool in a copy of the folder in which one file may have another text. */
const promtool = (args: ReadonlyArray<string>, other?: { readonly file: string; readonly text: string }) => {
  const temporary = mkdtempSync(Path.join(tmpdir(), "plaza-prometheus-"))
  try {
    cpSync(Path.join(folder, "prometheus"), temporary, { recursive: true })
    if (other !== undefined) writeFileSync(Path.join(temporary, other.file), other.text)
    const { status, stderr, stdout } = run(...args.slice(0, 2), Path.join(temporary, args[2] ?? ""))
    return { status, output: `${stdout}${stderr}` }
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

const configuration = read("prometheus/prometheus.yaml")

const Rules = Schema.Struct({
  groups: Schema.Array(Schema.Struct({
    name: Schema.NonEmptyString,
    rules: Schema.Array(Schema.Struct({
      alert: Schema.String.check(Schema.isPattern(/^PlazaStockSync[A-Z][A-Za-z]+$/)),
      expr: Schema.NonEmptyString,
      for: Schema.optional(Schema.String.check(Schema.isPattern(/^\d+[smh]$/))),
      labels: Schema.Struct({ severity: Schema.Literals(["critical", "warning", "info"]) }),
      annotations: Schema.Struct({ summary: Schema.NonEmptyString, description: Schema.NonEmptyString })
    }))
  }))
})
const Tests = Schema.Struct({ tests: Schema.Array(Schema.Struct({ name: Schema.String })) })

const rulesOf = (file: string) => Schema.decodeUnknownSync(Rules, { onExcessProperty: "error" })(parse(read(`prometheus/${file}.yaml`)))
const alertsOf = (file: string) => rulesOf(file).groups.flatMap(({ rules }) => rules.map(({ alert }) => alert))

/** The alerts whose tests fail if every rule has another condition. */
const failing = (file: string, expr: string): ReadonlyArray<string> => {
  const groups = rulesOf(file).groups.map((group) => ({ ...group, rules: group.rules.map((rule) => ({ ...rule, expr })) }))
  const { output } = promtool(["test", "rules", `${file}.test.yaml`], { file: `${file}.yaml`, text: stringify({ groups }) })
  // The tool prints the expressions of failed tests.
  return alertsOf(file).filter((alert) => new RegExp(`expr: .*alertname=\\\\?"${alert}\\\\?"`).test(output))
}

it("every reason of readiness has an alert", () => {
  const rules = rulesOf("alerts").groups.flatMap(({ rules }) => rules)
  const parts = ["ready == 0", "paused", "quota", "trouble", "source_last_read", "snapshot_held", "soldOut", "quarantined", "ledger_faults"]
  expect(parts.filter((part) => !rules.some(({ expr }) => expr.includes(part)))).toEqual([])
})

describe.each(["alerts", "fleet-alerts"])("the rules in %s.yaml", (file) => {
  const rules = read(`prometheus/${file}.yaml`)

  it("have names of their own", () => {
    expect(new Set(alertsOf(file)).size).toBe(alertsOf(file).length)
  })

  it("have one test each, and one in which none fires", () => {
    const tests = Schema.decodeUnknownSync(Tests)(parse(read(`prometheus/${file}.test.yaml`))).tests.map(({ name }) => name)
    expect(tests).toEqual([...alertsOf(file), "no alert without a problem"])
  })

  it.runIf(missing === undefined)("are valid, and fire for their conditions only", () => {
    expect(promtool(["check", "rules", `${file}.yaml`])).toMatchObject({ status: 0 })
    expect(promtool(["test", "rules", `${file}.test.yaml`])).toMatchObject({ status: 0 })
  })

  it.runIf(missing === undefined)("fail their tests if they never fire", () => {
    expect(failing(file, "vector(0) > 1")).toEqual(alertsOf(file))
  })

  it("are loaded by the example of a configuration", () => {
    expect(configuration).toContain(`\n  - ${file}.yaml\n`)
  })

  const mutants: Readonly<Record<string, ReadonlyArray<readonly [from: string, to: string]>>> = {
    alerts: [
      ["plaza_stock_sync_snapshot_held == 1", "plaza_stock_sync_snapshot_holds == 1"],
      ["{priority=\"soldOut\"} > 120", "{priority=\"soldOut\"} > 1200"],
      ["{priority=\"soldOut\"} > 120", "{priority=\"soldOut\"} >= 5"],
      ["{priority=\"soldOut\"} > 120 unless", "{priority=\"soldOut\"} > 120 or"],
      ["for: 10m", "for: 10h"],
      ["state=\"paused\"", "state=\"pause\""]
    ],
    "fleet-alerts": [
      ["plaza_stock_sync_ready and on (instance) plaza_stock_sync_fleet_shards", "plaza_stock_sync_ready"],
      ["max(plaza_stock_sync_ready", "min(plaza_stock_sync_ready"],
      ["sum(plaza_stock_sync_fleet_shards) > 0", "sum(plaza_stock_sync_fleet_shards) > 1"],
      ["max(plaza_stock_sync_fleet_configured_shards)", "sum(plaza_stock_sync_fleet_configured_shards)"],
      ["for: 2m", "for: 0m"],
      ["0.1 * sum(max by (state)", "0.1 * sum(sum by (state)"],
      ["running|paused|pending", "running|paused|pending|held"],
      ["priority=\"soldOut\"} and on (instance) plaza_stock_sync_fleet_shards", "priority=\"soldOut\"}"],
      ["> 30 and on (instance) plaza_stock_sync_fleet_loop_age_seconds <= 30", "> 30"],
      ["unless on (instance) plaza_stock_sync_fleet_database_age_seconds > 30", ""],
      ["quantile_over_time(0.5", "quantile_over_time(1"]
    ]
  }
  it.runIf(missing === undefined).each(mutants[file] ?? [])("with %j replaced by %j fail their tests", (from, to) => {
    expect(promtool(["test", "rules", `${file}.test.yaml`], { file: `${file}.yaml`, text: changed(rules, from, to) }).status).not.toBe(0)
  })
})

describe("the alerts of a fleet", () => {
  it.runIf(missing === undefined)("fail their tests if they always fire", () => {
    expect(failing("fleet-alerts", "vector(1)")).toEqual(alertsOf("fleet-alerts"))
  })

  it("have a paragraph each in docs/fleet.md", () => {
    const documented = Array.from(readFileSync(`${repository}/docs/fleet.md`, "utf8").matchAll(/^\*\*(PlazaStockSync\w+)\.\*\* \w/gm),
      ([, alert]) => alert)
    expect(documented).toEqual(alertsOf("fleet-alerts"))
  })
})

describe.each(["dashboard", "fleet"])("the dashboard %s.json", (name) => {
  const Dashboard = Schema.fromJsonString(Schema.Struct({
    panels: Schema.Array(Schema.Struct({ targets: Schema.Array(Schema.Struct({ expr: Schema.String })) }))
  }))

  it.runIf(missing === undefined)("has valid queries", () => {
    const queries = Schema.decodeUnknownSync(Dashboard)(read(`grafana/${name}.json`)).panels.flatMap(({ targets }) => targets)
    const rules = queries.map(({ expr }, index) => ({ record: `query_${index}`, expr: expr.replaceAll("$__rate_interval", "1m") }))
    expect(rules.length).toBeGreaterThan(10)
    const text = stringify({ groups: [{ name, rules }] })
    expect(promtool(["check", "rules", "queries.yaml"], { file: "queries.yaml", text })).toMatchObject({ status: 0 })
  })
})

describe("the configuration of Prometheus", () => {
  it.runIf(missing === undefined)("is valid with its alerts", () => {
    expect(promtool(["check", "config", "prometheus.yaml"])).toMatchObject({ status: 0 })
  })

  it("asks the port of the program", () => {
    expect(new Set(Array.from(configuration.matchAll(/(?:host-\d:|port: )(\d+)/g), ([, found]) => Number(found)))).toEqual(new Set([port]))
  })

  it.runIf(missing === undefined).each([
    ["dns_sd_configs", "dns_sd_config"],
    ["scrape_interval: 15s", "scrape_interval: often"],
    ["  - alerts.yaml", "  - alert.yaml"]
  ])("with %j replaced by %j is refused", (from, to) => {
    expect(promtool(["check", "config", "prometheus.yaml"], { file: "prometheus.yaml", text: changed(configuration, from, to) }).status).not
      .toBe(0)
  })
})
