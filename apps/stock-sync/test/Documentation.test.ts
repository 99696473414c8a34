/** The operator's documentation, the dashboard and the alerts name what the program has: commands, variables, metrics, events. */
import { describe, expect, it } from "@effect/vitest"
import type * as Manual from "@plaza/cli-kit/Manual"
import { Metrics as ClientMetrics } from "@plaza/client"
import { Duration, Effect, Metric, Option, Predicate } from "effect"
import { HttpServerResponse } from "effect/http"
import { readdirSync, readFileSync } from "node:fs"
import { parse } from "yaml"
import { variables } from "../src/config/Configuration.ts"
import { ofStore } from "../src/ledger/LedgerCommands.ts"
import { pages } from "../src/manual.ts"
import * as Responses from "../src/observability/HttpResponses.ts"
import * as Metrics from "../src/observability/Metrics.ts"
import * as Status from "../src/observability/Status.ts"
import { layer as layerState, outcomes, SyncStatus } from "../src/sync/SyncStatus.ts"
import { utc } from "./support/utc.ts"

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8")
const own = (path: string) => readFileSync(new URL(`../src/${path}`, import.meta.url), "utf8")
const guide = read("docs/stock-sync.md")
const watching = read("docs/stock-sync-watching.md")

/** The cells of every table row of a text, the header's rule left out. */
const rowsOf = (text: string): ReadonlyArray<ReadonlyArray<string>> =>
  text.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("|--")).map((line) =>
    line.slice(1, -1).split("|").map((cell) => cell.trim())
  )

const section = (text: string, title: string) => {
  const [, rest = ""] = text.split(`\n## ${title}\n`)
  return rest.split("\n## ")[0] ?? ""
}

const codes = (text: string): ReadonlyArray<string> => Array.from(text.matchAll(/`([^`]+)`/g), ([, code = ""]) => code)

const plain = (text: string) => text.replaceAll("`", "")

const [program, ...others] = pages
const nameOf = ({ path }: Manual.Page) => path.at(-1) ?? ""
const top = others.filter(({ path }) => path.length === 2)
const commands = top.filter((page) => page.commands.length === 0)
const flags = [...commands.flatMap((page) => page.flags), ...program.globals]

describe("the commands of docs/stock-sync.md", () => {
  it("are those of the program, each with an example", () => {
    const named = codes(section(guide, "Commands").split("\n\n")[0] ?? "")
    expect(named.toSorted()).toEqual(top.map(nameOf).toSorted())
    for (const name of commands.map(nameOf)) expect(guide).toMatch(new RegExp(`^\\$ plaza-stock-sync ${name}\\b`, "m"))
  })

  it("have every variable that has no option in docs/stock-sync.md", () => {
    const inHelp = new Set(
      flags.flatMap(({ description }) => Array.from(description.matchAll(/STOCK_SYNC_[A-Z0-9_]*[A-Z]/g), ([name]) => name))
    )
    const named = Array.from(section(guide, "Options").matchAll(/STOCK_SYNC_[A-Z0-9_]*[A-Z]/g), ([name]) => name)
    expect(named.filter((name) => !variables.has(name))).toEqual([])
    expect(Array.from(variables).filter((name) => !inHelp.has(name) && !named.includes(name))).toEqual([])
  })
})

/** What the metrics of a worker are called, and their labels, as `/metrics` has them. */
const exported = Effect.gen(function*() {
  const counts = {
    settled: 0,
    pending: 0,
    sending: 0,
    doubtful: 0,
    uncertain: 0,
    quarantined: 0,
    missing: 0,
    rejectedRows: 0,
    negativeRows: 0,
    ruleIssues: 0
  }
  const ledger: Status.LedgerSample = {
    at: utc(0),
    backlog: {
      waiting: { soldOut: 0, falling: 0, backInStock: 0, rest: 0, doubtful: 0 },
      longest: { soldOut: utc(0), falling: utc(0), backInStock: utc(0), rest: utc(0), doubtful: utc(0) },
      sending: 0,
      oldest: Option.none(),
      oldestConfirmation: Option.none()
    },
    counts,
    attention: { counts, waiting: 0, products: 0, rejected: { settled: 0, waiting: 0, needing: 0, unknown: 0 } },
    needing: [],
    rejectedRows: [],
    acceptedAt: utc(0),
    quarantined: [],
    uncertain: [],
    rowIssues: [],
    unit: "line",
    heldChanges: []
  }
  const state = yield* Effect.flatMap(SyncStatus, ({ state }) => state)
  const failure = { at: utc(0), about: "source", productId: undefined, tag: "SourceUnreachable", code: undefined, message: "" } as const
  const source = { ...state.source, readAt: utc(0), rows: 0, failing: { since: utc(0), failure } }
  const options = { rateLimit: 120, rateWindow: Duration.minutes(1), sourceStaleAfter: Duration.minutes(5), commands: ofStore() }
  yield* Metrics.initializeCounters
  yield* Metrics.update(Status.derive({ ...state, source }, { ledger, history: [] }, utc(0), options))
  // Set by events alone.
  yield* Metric.update(Metrics.drift, 0)
  yield* Metric.update(Metric.withAttributes(ClientMetrics.pauses, { scope: "key" }), 1)
  const text = yield* Effect.flatMap(Responses.metrics, (response) => Effect.promise(() => HttpServerResponse.toWeb(response).text()))
  const names = Array.from(text.matchAll(/^# TYPE (plaza_\w+) /gm), ([, name = ""]) => name)
  return new Map(names.map((name) => {
    // A counter stands there without its label until it has counted; the labels are those of all its samples.
    const samples = Array.from(text.matchAll(new RegExp(`^${name}(?:_sum)?\\{([^}]*)\\}`, "gm")), ([, labels = ""]) => labels)
    return [name, new Set(samples.flatMap((labels) => Array.from(labels.matchAll(/(\w+)="/g), ([, label = ""]) => label)))] as const
  }))
}).pipe(Effect.provide(layerState), Effect.provideService(Metric.MetricRegistry, new Map()))

const documentedMetrics = () =>
  new Map(
    rowsOf(section(watching, "Metrics")).filter(([name = ""]) => name.startsWith("`")).flatMap(([names = "", labels = ""]) =>
      codes(names).map((name) => [name.startsWith("plaza_") ? name : `plaza_stock_sync_${name}`, new Set(codes(labels))] as const)
    )
  )

const sorted = (metrics: ReadonlyMap<string, ReadonlySet<string>>) =>
  Array.from(metrics, ([name, labels]) => [name, ...labels].join(" ")).toSorted()

describe("the metrics of docs/stock-sync-watching.md", () => {
  it.effect("are those of the program, with their labels", () =>
    Effect.gen(function*() {
      const metrics = yield* exported
      const declared = Array.from(own("observability/Metrics.ts").matchAll(/(?:gauge|counter|named)\("(\w+)"/g),
        ([, name = ""]) => `plaza_stock_sync_${name}`)
      expect(declared.length).toBeGreaterThan(20)
      expect(declared.filter((name) => !metrics.has(name) && !metrics.has(`${name}_total`))).toEqual([])
      expect(sorted(documentedMetrics())).toEqual(sorted(metrics))
    }))

  it.effect("are all that the dashboard and the alerts ask for, by labels that they have", () =>
    Effect.gen(function*() {
      const metrics = yield* exported
      const queries = [
        ...expressions(parse(read("deploy/prometheus/alerts.yaml"))),
        ...expressions(JSON.parse(read("deploy/grafana/dashboard.json")))
      ]
      expect(queries.length).toBeGreaterThan(30)
      for (const query of queries) {
        for (const [, name = "", selector = ""] of query.matchAll(/(plaza_\w+)(?:\{([^}]*)\})?/g)) {
          // Only a runner of a fleet has it.
          if (name === "plaza_stock_sync_fleet_shards") continue
          const metric = name.replace(/_bucket$/, "")
          const labels = Array.from(selector.matchAll(/(\w+)\s*[=!]/g), ([, label = ""]) => label).filter((label) => label !== "instance")
          const grouped = Array.from(query.matchAll(/by \(([^)]*)\)/g), ([, list = ""]) => list.split(/, */)).flat().filter((label) =>
            label !== "instance" && label !== "le"
          )
          expect([query, metrics.has(metric)]).toEqual([query, true])
          expect([query, [...labels, ...grouped].filter((label) => metrics.get(metric)?.has(label) !== true)]).toEqual([query, []])
        }
      }
    }))
})

/** Each `expr`, with the labels of its legend as if it grouped by them. */
const expressions = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value) ? value.flatMap(expressions) : !Predicate.isReadonlyObject(value) ? [] : [
    ...(Predicate.isString(value["expr"]) ? [[value["expr"], ...legend(value["legendFormat"])].join(" ")] : []),
    ...Object.values(value).flatMap(expressions)
  ]

const legend = (text: unknown): ReadonlyArray<string> =>
  Predicate.isString(text) ? Array.from(text.matchAll(/\{\{(\w+)\}\}/g), ([, label = ""]) => `by (${label})`) : []

describe("the log events of docs/stock-sync-watching.md", () => {
  it("are those of the program", () => {
    const folder = new URL("../src/observability/", import.meta.url)
    // The events of the webhook, and the attributes of OTLP, have names of the same form.
    const files = readdirSync(folder).filter((name) => !["Notification.ts", "OtlpSettings.ts"].includes(name))
    const sources = files.map((name) => readFileSync(new URL(name, folder), "utf8")).join("\n")
    const written = Array.from(sources.matchAll(/"([a-z]+\.[a-z]+)"/g), ([, event = ""]) => event)
    const events = new Set([...written, ...outcomes.map((outcome) => `product.${outcome}`)])
    const names = rowsOf(section(watching, "Log")).filter(([name = ""]) => name.startsWith("`")).flatMap(([names = ""]) => codes(names))
    expect(names.toSorted()).toEqual(Array.from(events).toSorted())
  })
})

describe("the events of the webhook in docs/stock-sync-watching.md", () => {
  it("are those of the program", () => {
    const types = new Set(
      Array.from(own("observability/Notification.ts").matchAll(/"([a-z]+\.[a-z]+)"/g), ([, type = ""]) => type)
    )
    const names = rowsOf(section(watching, "Webhook")).filter(([name = ""]) => name.startsWith("`")).map(([name = ""]) => plain(name))
    expect(names.toSorted()).toEqual(Array.from(types).toSorted())
  })
})
