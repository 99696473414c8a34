/** The metrics of a runner: sums over its accounts, without an account as a label. */
import { describe, expect, it } from "@effect/vitest"
import { Clock, Effect, Layer, Metric } from "effect"
import { readFileSync } from "node:fs"
import * as FleetMetrics from "../../src/fleet/operations/FleetMetrics.ts"
import * as OwnershipCluster from "../../src/fleet/OwnershipCluster.ts"
import * as EventLogger from "../../src/observability/EventLogger.ts"
import * as Metrics from "../../src/observability/Metrics.ts"
import * as SyncStatus from "../../src/sync/SyncStatus.ts"
import { id } from "../support/events.ts"
import { eventually } from "../support/eventually.ts"
import * as Pages from "../support/fleetPages.ts"
import * as Support from "../support/fleetStatus.ts"
import { utc } from "../support/utc.ts"

const { accounts, products, runnerRow } = Support

const inFleet = Pages.fleets()

const samples = (request: Pages.Requests, path: string) =>
  Effect.map(request(path), ({ body }) =>
    new Map(body.split("\n").filter((line) => line !== "" && !line.startsWith("#")).map((line) => {
      const end = line.lastIndexOf(" ")
      return [line.slice(0, end), Number(line.slice(end + 1))] as const
    })))

/** Samples by name and labels, as soon as the expected one is there. */
const scraped = (request: Pages.Requests, expected: string, path = "/metrics") =>
  eventually(samples(request, path), (found) => found.has(expected))

const fleetOf = (count: number) =>
  Effect.gen(function*() {
    yield* runnerRow(Support.runner)
    yield* runnerRow("runner-2")
    const names = Array.from({ length: count }, (_, index) => `shop-${index}`)
    yield* accounts({
      ...Object.fromEntries(names.map((name) => [name, { runner: Support.runner }])),
      other: { runner: "runner-2" },
      paused: { paused: true, problem: "the key is missing" }
    })
    yield* products(names, [{ as: "soldOut", count: 2, since: Date.UTC(2020, 0) }, { as: "quarantined", count: 1 }])
    yield* products("shop-1", [{ as: "falling", count: 5 }])
    yield* products("other", [{ as: "soldOut", count: 100 }])
  })

/** The metrics that only a fleet has. */
const names = Object.values(FleetMetrics).map(({ id }) => id)

/** The last one that a sample sets. */
const lastSample = "plaza_stock_sync_fleet_runners"

describe("the metrics of a runner", () => {
  it.live("sum up its own accounts, and count those of the fleet", () =>
    inFleet(fleetOf(10), (request) =>
      Effect.gen(function*() {
        const samples = yield* scraped(request, lastSample)
        const value = (name: string) => samples.get(`plaza_stock_sync_${name}`)
        expect(value("backlog{priority=\"soldOut\"}")).toBe(20)
        expect(value("backlog{priority=\"falling\"}")).toBe(5)
        expect(value("backlog{priority=\"rest\"}")).toBe(0)
        expect(value("oldest_waiting_seconds{priority=\"soldOut\"}")).toBeGreaterThan(86_400)
        expect(value("oldest_waiting_seconds{priority=\"rest\"}")).toBe(0)
        expect(value("products{state=\"quarantined\"}")).toBe(10)
        expect(value("fleet_accounts{state=\"running\"}")).toBe(11)
        expect(value("fleet_accounts{state=\"paused\"}")).toBe(1)
        expect(value("fleet_accounts{state=\"failing\"}")).toBe(1)
        expect(value("fleet_runners")).toBe(2)
        expect(value("fleet_shards")).toBe(300)
        expect(value("fleet_configured_shards")).toBe(OwnershipCluster.shards)
        expect(value("fleet_runner_accounts{state=\"owned\"}")).toBe(0)
        expect(value("ready")).toBe(1)
        expect(value("fleet_loop_age_seconds")).toBeGreaterThanOrEqual(0)
        expect(value("fleet_database_age_seconds")).toBeGreaterThanOrEqual(0)
        expect(value("fleet_lease_age_seconds")).toBeGreaterThanOrEqual(0)
        expect(value("fleet_pool_connections{state=\"idle\"}")).toBeGreaterThanOrEqual(0)
        expect(value("fleet_pool_waiting")).toBe(0)
      })))

  it.live("have no longest wait of accounts that are paused or have a problem: other metrics count those", () =>
    inFleet(
      Effect.gen(function*() {
        yield* runnerRow(Support.runner)
        yield* accounts({
          good: { runner: Support.runner },
          paused: { runner: Support.runner, paused: true },
          failing: { runner: Support.runner, problem: "the key was revoked" }
        })
        const now = yield* Clock.currentTimeMillis
        yield* products(["paused", "failing"], [{ as: "soldOut", count: 2 }, { as: "falling", count: 1 }])
        yield* products("good", [{ as: "soldOut", count: 1, since: now - 60_000 }])
      }),
      (request) =>
        Effect.gen(function*() {
          const found = yield* scraped(request, lastSample)
          const value = (name: string) => found.get(`plaza_stock_sync_${name}`)
          expect(value("backlog{priority=\"soldOut\"}")).toBe(5)
          expect(value("oldest_waiting_seconds{priority=\"soldOut\"}")).toBeGreaterThan(59)
          expect(value("oldest_waiting_seconds{priority=\"soldOut\"}")).toBeLessThan(3_600)
          expect(value("oldest_waiting_seconds{priority=\"falling\"}")).toBe(0)
          expect(value("fleet_accounts{state=\"failing\"}")).toBe(1)
        })
    ))

  it.live("have as many samples for many accounts as for few, and no account as a label", () =>
    Effect.gen(function*() {
      const few = yield* inFleet(fleetOf(2), (request) => scraped(request, lastSample))
      const many = yield* inFleet(fleetOf(500), (request) => scraped(request, lastSample))
      expect(many.size).toBe(few.size)
      expect([...many.keys()].filter((name) => name.includes("shop-") || name.includes("account="))).toEqual([])
    }))

  it.live("name the accounts with the longest backlogs on request only, and only those of this runner", () =>
    inFleet(fleetOf(10), (request) =>
      Effect.gen(function*() {
        yield* scraped(request, "plaza_stock_sync_fleet_account_backlog{account=\"shop-1\"}", "/metrics?top=3")
        const { body } = yield* request("/metrics?top=3")
        expect(body).toContain("# TYPE plaza_stock_sync_fleet_account_backlog gauge\n")
        const lines = body.split("\n").filter((line) => line.startsWith("plaza_stock_sync_fleet_account_backlog{"))
        expect(lines).toHaveLength(3)
        expect(lines[0]).toBe("plaza_stock_sync_fleet_account_backlog{account=\"shop-1\"} 7")
        expect(lines.join("")).not.toContain("other")
        expect((yield* request("/metrics")).body).not.toContain("account_backlog")
        for (const top of ["0", "101", "x", "1.5", ""]) expect([top, (yield* request(`/metrics?top=${top}`)).status]).toEqual([top, 400])
      })))
})

describe("the account as a label", () => {
  it.live("can't break the response, whatever its id is", () =>
    inFleet(
      Effect.gen(function*() {
        yield* accounts({ "a \"b\" \\ c": { runner: Support.runner } })
        yield* products("a \"b\" \\ c", [{ as: "falling", count: 2 }])
      }),
      (request) => scraped(request, "plaza_stock_sync_fleet_account_backlog{account=\"a \\\"b\\\" \\\\ c\"}", "/metrics?top=1")
    ))
})

describe("the alerts and the dashboard of a fleet", () => {
  const read = (path: string) => readFileSync(new URL(`../../../../deploy/${path}`, import.meta.url), "utf8")
  /** Each metric that a text asks for, with the labels that it must have. */
  const selectorsIn = (text: string) =>
    Array.from(text.replaceAll("\\\"", "\"").matchAll(/(plaza_\w+)(?:\{([^}]*)\})?/g), ([, name = "", selector = ""]) => ({
      name,
      labels: Array.from(selector.matchAll(/(\w+)=(~?)"([^"]*)"/g)).flatMap(([, label = "", , values = ""]) =>
        label === "instance" ? [] : [values.split("|").map((value) => `${label}="${value}"`)]
      )
    }))

  it.live("ask for metrics that a runner exports, with the labels that they have", () =>
    inFleet(fleetOf(2), (request) =>
      Effect.gen(function*() {
        const exported = [...(yield* scraped(request, lastSample)).keys()]
        for (const file of ["prometheus/fleet-alerts.yaml", "grafana/fleet.json"]) {
          const selectors = selectorsIn(read(file))
          expect(selectors.length).toBeGreaterThan(10)
          const unknown = selectors.filter(({ labels, name }) => {
            const samples = exported.filter((sample) => sample === name || sample.startsWith(`${name}{`))
            return samples.length === 0 ||
              labels.some((values) => values.some((value) => !samples.some((sample) => sample.includes(value))))
          })
          expect(unknown).toEqual([])
        }
      })))

  it("show every metric of a fleet that has no account as a label", () => {
    const shown = new Set(selectorsIn(read("grafana/fleet.json")).map(({ name }) => name))
    const declared = names.filter((name) => name !== FleetMetrics.accountBacklog.id)
    expect(declared.filter((name) => !shown.has(name))).toEqual([])
  })
})

describe("the counters of many accounts in one process", () => {
  it.effect("add up, and drift of one account does not overwrite that of another", () =>
    Effect.gen(function*() {
      const account = Effect.gen(function*() {
        const { publish } = yield* SyncStatus.SyncStatus
        yield* publish({
          _tag: "Sent",
          productId: id("a"),
          priority: "soldOut",
          wasQuarantined: false,
          wasUncertain: false,
          since: utc(0),
          value: 0,
          outcome: "confirmed",
          failure: undefined
        })
        yield* publish({ _tag: "Reconciled", products: 1, differing: 7, resent: false })
      }).pipe(Effect.provide(Layer.fresh(Layer.provideMerge(EventLogger.layer, SyncStatus.layer))))
      yield* account
      const afterOne = yield* Metric.snapshot
      yield* Effect.replicateEffect(account, 199, { discard: true })
      const after = yield* Metric.snapshot
      const confirmed = after.find(({ attributes, id }) => id === "plaza_stock_sync_sends" && attributes?.["outcome"] === "confirmed")
      expect(confirmed?.state).toMatchObject({ count: 200 })
      expect(after.map(({ id }) => id)).not.toContain(Metrics.drift.id)
      expect(after).toHaveLength(afterOne.length)
      expect(after.length).toBeLessThan(5)
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map())))
})

describe("the metrics of docs/fleet.md", () => {
  it("are those of the program", () => {
    const page = readFileSync(new URL("../../../../docs/fleet.md", import.meta.url), "utf8")
    const documented = Array.from(page.matchAll(/^\| `(plaza_stock_sync_fleet_\w+)`/gm), ([, name = ""]) => name)
    expect(names.length).toBeGreaterThan(5)
    expect(documented.toSorted()).toEqual(names.toSorted())
  })
})
