/** The alerts and the scrape configuration, checked by Prometheus's own tool. Their metrics are compared in `apps/stock-sync/test`. */
import { Schema } from "effect"
import { spawnSync } from "node:child_process"
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { stderr } from "node:process"
import { describe, expect, it } from "vitest"
import { parse } from "yaml"
import { changed, folder, port, read } from "./support/program.js"

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

const rules = read("prometheus/alerts.yaml")
const configuration = read("prometheus/prometheus.yaml")

const Rules = Schema.Struct({ groups: Schema.Array(Schema.Struct({ rules: Schema.Array(Schema.Struct({ alert: Schema.String })) })) })
const Tests = Schema.Struct({ tests: Schema.Array(Schema.Struct({ name: Schema.String })) })

describe("the alerts", () => {
  it("have one test each, and one in which none fires", () => {
    const alerts = Schema.decodeUnknownSync(Rules)(parse(rules)).groups.flatMap(({ rules }) => rules.map(({ alert }) => alert))
    const tests = Schema.decodeUnknownSync(Tests)(parse(read("prometheus/alerts.test.yaml"))).tests.map(({ name }) => name)
    expect(tests).toEqual([...alerts, "no alert without a problem"])
  })

  it.runIf(missing === undefined)("fire for their conditions only", () => {
    expect(promtool(["test", "rules", "alerts.test.yaml"])).toMatchObject({ status: 0 })
  })

  it.runIf(missing === undefined).each([
    ["plaza_stock_sync_snapshot_held == 1", "plaza_stock_sync_snapshot_holds == 1"],
    ["{priority=\"soldOut\"} > 120", "{priority=\"soldOut\"} > 1200"],
    ["{priority=\"soldOut\"} > 120", "{priority=\"soldOut\"} >= 5"],
    ["for: 10m", "for: 10h"],
    ["state=\"paused\"", "state=\"pause\""]
  ])("with %j replaced by %j fail their tests", (from, to) => {
    expect(promtool(["test", "rules", "alerts.test.yaml"], { file: "alerts.yaml", text: changed(rules, from, to) }).status).not.toBe(0)
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
