/** The state of a fleet as queries of a real Postgres, and the row of a runner. */
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option, Ref, Schema } from "effect"
import { Statement } from "effect/sql"
import { FleetDatabase } from "../../src/fleet/FleetDatabase.ts"
import * as FleetStatus from "../../src/fleet/operations/FleetStatus.ts"
import * as RunnerHeartbeat from "../../src/fleet/operations/RunnerHeartbeat.ts"
import { eventually } from "../support/eventually.ts"
import * as Support from "../support/fleetStatus.ts"

const { accounts, heldSnapshot, products, runnerRow, sharedKey } = Support

const inFleet = Support.fleets()

const all: FleetStatus.AccountQuery = { prefix: "", filter: "all", from: Option.none() }
const ids = (query: Partial<FleetStatus.AccountQuery> = {}) =>
  Effect.map(FleetStatus.accounts({ ...all, ...query }), (page) => page.accounts.map(({ id }) => id))

const millis = (at: DateTime.Utc | undefined) => at === undefined ? undefined : DateTime.toEpochMillis(at)

describe("accounts", () => {
  it.effect("run on a live runner, are pending without one, and are paused by an operator", () =>
    inFleet(Effect.gen(function*() {
      yield* runnerRow("live")
      yield* runnerRow("dead", 60_000)
      yield* accounts({
        a: { runner: "live" },
        b: { runner: "live", problem: "the variable KEY is not set" },
        c: { runner: "dead" },
        d: {},
        e: { runner: "live", paused: true },
        f: { paused: true, problem: "the source is missing" }
      })
      yield* heldSnapshot("a", 5_000)
      expect(yield* FleetStatus.accountCounts).toEqual({ total: 6, running: 2, pending: 2, paused: 2, failing: 2, held: 1 })
      const found = yield* FleetStatus.accounts(all)
      expect(found.accounts.map(({ id, state }) => [id, state])).toEqual([
        ["a", "running"],
        ["b", "running"],
        ["c", "pending"],
        ["d", "pending"],
        ["e", "paused"],
        ["f", "paused"]
      ])
      expect(yield* ids({ filter: "running" })).toEqual(["a", "b"])
      expect(yield* ids({ filter: "pending" })).toEqual(["c", "d"])
      expect(yield* ids({ filter: "paused" })).toEqual(["e", "f"])
      expect(yield* ids({ filter: "failing" })).toEqual(["b", "f"])
      expect(yield* ids({ filter: "held" })).toEqual(["a"])
      expect(yield* FleetStatus.account("c")).toMatchObject(Option.some({ id: "c", state: "pending", runner: "dead", epoch: 1 }))
      expect(yield* FleetStatus.account("x")).toEqual(Option.none())
    })))

  it.effect("need a person or not, each counted once, and those that do are listed", () =>
    inFleet(Effect.gen(function*() {
      yield* runnerRow("live")
      // Every combination of a live runner, a pause and what may need a person.
      const traits = ["live", "paused", "problem", "held", "confirmed", "quarantined", "rejected", "negative"] as const
      type Trait = (typeof traits)[number]
      const combinations = Array.from({ length: 2 ** traits.length }, (_, bits) => ({
        id: `shop-${String(bits).padStart(3, "0")}`,
        has: (trait: Trait) => (bits >> traits.indexOf(trait)) % 2 === 1
      }))
      yield* accounts(Object.fromEntries(combinations.map(({ has, id }) => [id, {
        ...(has("live") ? { runner: "live" } : {}),
        paused: has("paused"),
        ...(has("problem") ? { problem: "no key" } : {})
      }])))
      const named = (trait: Trait) => combinations.flatMap(({ has, id }) => has(trait) ? [id] : [])
      for (const id of named("held")) yield* heldSnapshot(id, 5_000)
      for (const id of named("confirmed")) yield* Support.confirmedSnapshot(id)
      yield* products(named("quarantined"), [{ as: "quarantined", count: 2, since: 3_000 }, { as: "settled", count: 1 }])
      yield* Support.rowIssue(named("rejected"), "rejected")
      yield* Support.rowIssue(named("negative"), "negative")
      const troubled = combinations.filter(({ has }) =>
        !has("paused") && (has("problem") || (has("held") && !has("confirmed")) || has("quarantined") || has("rejected"))
      )
      const isTroubled = new Set(troubled.map(({ id }) => id))
      const count = (condition: (has: (trait: Trait) => boolean) => boolean) =>
        combinations.filter(({ has, id }) => !isTroubled.has(id) && condition(has)).length
      const { standing, troubled: listed } = yield* FleetStatus.overview
      expect(standing).toEqual({
        total: combinations.length,
        troubled: troubled.length,
        paused: combinations.length / 2,
        running: count((has) => has("live") && !has("paused")),
        pending: count((has) => !has("live") && !has("paused"))
      })
      expect(standing.running + standing.troubled + standing.paused + standing.pending).toBe(standing.total)
      expect(listed.map(({ id }) => id)).toEqual(troubled.slice(0, FleetStatus.maxListed).map(({ id }) => id))
      for (const { held, id, problem, products, productsSince, rejectedRows } of listed) {
        const has = combinations.find((each) => each.id === id)?.has ?? (() => false)
        expect([id, problem, held, products, millis(productsSince ?? undefined), rejectedRows]).toEqual([
          id,
          has("problem") ? "no key" : null,
          has("held") && !has("confirmed") ? 3 : null,
          has("quarantined") ? 2 : 0,
          has("quarantined") ? 3_001 : undefined,
          has("rejected") ? 1 : 0
        ])
      }
      expect(yield* ids({ filter: "troubled" })).toEqual(troubled.slice(0, FleetStatus.pageSize).map(({ id }) => id))
      const page = yield* FleetStatus.accounts(all)
      expect(page.accounts.flatMap(({ id, troubled }) => troubled ? [id] : [])).toEqual(
        page.accounts.flatMap(({ id }) => isTroubled.has(id) ? [id] : [])
      )
    })))

  it.effect("are listed page by page in both directions, in the order of their ids", () =>
    inFleet(Effect.gen(function*() {
      const size = FleetStatus.pageSize
      const names = Array.from({ length: 2 * size + 1 }, (_, index) => `shop-${String(index).padStart(4, "0")}`)
      yield* accounts(Object.fromEntries(names.map((name) => [name, {}])))
      const page = (from: FleetStatus.AccountQuery["from"]) =>
        Effect.map(FleetStatus.accounts({ ...all, from }),
          ({ accounts, hasNext, hasPrevious }) => [accounts.map(({ id }) => id), hasPrevious, hasNext])
      const at = (index: number) =>
        names[index] ?? ""
      const first = [names.slice(0, size), false, true]
      const second = [names.slice(size, 2 * size), true, true]
      const third = [names.slice(2 * size), true, false]
      expect(yield* page(Option.none())).toEqual(first)
      expect(yield* page(Option.some({ direction: "after", id: at(size - 1) }))).toEqual(second)
      expect(yield* page(Option.some({ direction: "after", id: at(2 * size - 1) }))).toEqual(third)
      expect(yield* page(Option.some({ direction: "before", id: at(2 * size) }))).toEqual(second)
      expect(yield* page(Option.some({ direction: "before", id: at(size) }))).toEqual(first)
    })))

  it.effect("are found by the beginning of their id, whatever characters it has", () =>
    inFleet(Effect.gen(function*() {
      const names = ["a", "a%", "a%b", "a_", "a\\", "aa", "a\u{10FFFF}", "a\u{10FFFF}z", "b", "A", "Ä"]
      yield* accounts(Object.fromEntries(names.map((name) => [name, {}])))
      for (const prefix of ["", "a", "a%", "a_", "a\\", "a\u{10FFFF}", "b", "A", "Ä", "'; --", "zz"]) {
        expect([prefix, (yield* ids({ prefix })).toSorted()]).toEqual([prefix, names.filter((name) => name.startsWith(prefix)).toSorted()])
      }
    })))
})

describe("the backlog", () => {
  it.effect("counts products that wait, and names the longest backlogs and the oldest sold-out product", () =>
    inFleet(Effect.gen(function*() {
      yield* accounts({ small: { runner: "one" }, large: { runner: "two" }, settled: { runner: "one" }, refused: { runner: "two" } })
      yield* products("small", [
        { as: "soldOut", count: 2, since: 1_000 },
        { as: "soldOut", count: 0 },
        { as: "sending", count: 1 }
      ])
      yield* products("large", [
        { as: "soldOut", count: 1, since: 9_000 },
        { as: "falling", count: 5, since: 500 },
        { as: "rest", count: 4, since: 7_000, delayed: true },
        { as: "settled", count: 9 }
      ])
      yield* products("settled", [{ as: "settled", count: 3 }])
      yield* products("refused", [{ as: "quarantined", count: 6 }])
      const found = yield* FleetStatus.backlog(Option.none(), 10)
      expect(found).toMatchObject({
        accounts: 2,
        waiting: { soldOut: 3, falling: 5, backInStock: 0, rest: 4, doubtful: 0 },
        oldestSoldOut: Option.some({ account: "small", productId: "soldOut-1" })
      })
      expect([millis(found.longest.soldOut), millis(found.longest.falling), found.longest.doubtful]).toEqual([1_001, 501, undefined])
      expect(found.worst).toMatchObject([{ account: "large", products: 10, soldOut: 1 }, { account: "small", products: 2, soldOut: 2 }])
      expect(found.worst.map(({ since }) => millis(since))).toEqual([501, 1_001])
      expect((yield* FleetStatus.backlog(Option.none(), 1)).worst).toHaveLength(1)
      expect(yield* FleetStatus.unsettledCounts(Option.none())).toEqual({ sending: 1, doubtful: 0, uncertain: 0, quarantined: 6 })

      const ofOne = yield* FleetStatus.backlog(Option.some("one"), 10)
      expect(ofOne).toMatchObject({ accounts: 1, waiting: { soldOut: 2, falling: 0 }, worst: [{ account: "small" }] })
      expect(yield* FleetStatus.unsettledCounts(Option.some("one"))).toEqual({ sending: 1, doubtful: 0, uncertain: 0, quarantined: 0 })

      expect(yield* ids({ filter: "waiting" })).toEqual(["large", "small"])
      const [large] = (yield* FleetStatus.accounts(all)).accounts
      expect(large).toMatchObject({ id: "large", waiting: 10, soldOut: 1 })
    })))

  it.effect("is empty in an empty fleet", () =>
    inFleet(Effect.gen(function*() {
      expect(yield* FleetStatus.overview).toMatchObject({
        runners: [],
        accounts: { total: 0, running: 0, paused: 0, pending: 0, failing: 0, held: 0 },
        backlog: { accounts: 0, worst: [], oldestSoldOut: Option.none() },
        problems: [],
        held: [],
        sharedKeys: [],
        paused: []
      })
    })))
})

describe("an overview", () => {
  it.effect("lists the first accounts with a problem, a pause and a held snapshot, and counts all", () =>
    inFleet(Effect.gen(function*() {
      const names = Array.from({ length: FleetStatus.maxListed + 5 }, (_, index) => `shop-${index}`)
      yield* accounts(Object.fromEntries(names.map((name) => [name, { paused: true, problem: `problem of ${name}` }])))
      yield* Effect.forEach(names, (name) => heldSnapshot(name, 5_000))
      const { accounts: counts, held, paused, problems } = yield* FleetStatus.overview
      expect(counts).toMatchObject({ paused: names.length, failing: names.length, held: names.length })
      const first = names.toSorted().slice(0, FleetStatus.maxListed)
      expect(paused).toEqual(first)
      expect(problems.map(({ account, problem }) => [account, problem])).toEqual(first.map((name) => [name, `problem of ${name}`]))
      expect(held.map(({ account, since, snapshot }) => [account, snapshot, millis(since)])).toEqual(first.map((name) => [name, 3, 5_000]))
    })))
})

describe("accounts with the same key", () => {
  it.effect("are listed together, if it is the key of the same service", () =>
    inFleet(Effect.gen(function*() {
      yield* accounts({ a: {}, b: {}, c: {}, d: {}, e: {}, f: {}, g: {}, h: {} })
      yield* sharedKey(["c", "b"], "one")
      yield* sharedKey(["a"], "one", "https://other.example/open/v1")
      yield* sharedKey(["d"], "two")
      // Their next key becomes their key: none is known.
      yield* sharedKey(["e", "f"], "")
      yield* sharedKey(["h", "g"], "three")
      expect((yield* FleetStatus.overview).sharedKeys).toEqual([["b", "c"], ["g", "h"]])
    })))
})

interface Plan {
  readonly "Node Type": string
  readonly "Relation Name"?: string | undefined
  readonly "Index Name"?: string | undefined
  readonly Plans?: ReadonlyArray<Plan> | undefined
}
const Plan: Schema.Codec<Plan> = Schema.Struct({
  "Node Type": Schema.String,
  "Relation Name": Schema.optional(Schema.String),
  "Index Name": Schema.optional(Schema.String),
  Plans: Schema.optional(Schema.Array(Schema.suspend(() => Plan)))
})
const decodePlans = Schema.decodeUnknownSync(
  Schema.Tuple([Schema.Struct({ "QUERY PLAN": Schema.Tuple([Schema.Struct({ Plan })]) })])
)

const nodes = (plan: Plan): ReadonlyArray<Plan> => [plan, ...(plan.Plans ?? []).flatMap(nodes)]

/** The plans of all statements that an effect runs. */
const plansOf = <A, E>(effect: Effect.Effect<A, E, FleetDatabase>) =>
  Effect.gen(function*() {
    const { sql } = yield* FleetDatabase
    const plans: Array<Plan> = []
    yield* Effect.provideService(effect, Statement.CurrentTransformer, (statement) =>
      Effect.gen(function*() {
        const [text, parameters] = statement.compile()
        const explained = yield* Effect.provideService(
          sql.unsafe(`EXPLAIN (FORMAT JSON) ${text}`, parameters),
          Statement.CurrentTransformer,
          undefined
        )
        plans.push(...nodes(decodePlans(explained)[0]["QUERY PLAN"][0].Plan))
        return statement
      }).pipe(Effect.orDie))
    return plans
  })

describe("the queries", () => {
  it.live("read indexes of few rows, and never all products", () =>
    inFleet(Effect.gen(function*() {
      const { sql } = yield* FleetDatabase
      const names = Array.from({ length: 1_000 }, (_, index) => `shop-${index}`)
      yield* runnerRow("one")
      yield* accounts(Object.fromEntries(names.map((name) => [name, { runner: "one" }])))
      yield* products(names, [{ as: "settled", count: 150 }])
      yield* products(names.slice(0, 50), [{ as: "soldOut", count: 10 }, { as: "quarantined", count: 2 }])
      yield* sql`VACUUM ANALYZE`
      const queries = new Map([
        ["overview", Effect.asVoid(FleetStatus.overview)],
        ["backlog", Effect.asVoid(FleetStatus.backlog(Option.some("one"), 100))],
        ["unsettled", Effect.asVoid(FleetStatus.unsettledCounts(Option.some("one")))],
        ["account", Effect.asVoid(FleetStatus.account("shop-1"))],
        ...FleetStatus.filters.map((filter) => [filter, Effect.asVoid(FleetStatus.accounts({ ...all, filter, prefix: "shop-1" }))] as const)
      ])
      for (const [name, query] of queries) {
        const plans = yield* plansOf(query)
        expect(plans.length).toBeGreaterThan(0)
        const whole = plans.filter((node) => node["Node Type"] === "Seq Scan" && node["Relation Name"] === "product")
        expect([name, whole]).toEqual([name, []])
        const indexes = plans.flatMap((node) => node["Index Name"]?.startsWith("product") === true ? [node["Index Name"]] : [])
        const used = ["account"].includes(name) ? [] : name === "unsettled" ? ["product_exceptional"] : ["product_waiting"]
        expect([name, used.filter((index) => !indexes.includes(index))]).toEqual([name, []])
      }
    })), 60_000)
})

describe("a runner", () => {
  it.live("keeps a row with its state and why it is not ready, forgets runners of earlier days, and removes its row",
    () =>
      inFleet(Effect.gen(function*() {
        yield* runnerRow("yesterday", 86_400_000)
        yield* runnerRow("lost", 60_000)
        yield* accounts({ a: { runner: Support.runner }, b: { runner: Support.runner } })
        const state = yield* Ref.make({
          ...yield* Support.readyState,
          accounts: { owned: 2, active: 1, reading: 1, waitingToRead: 1, failing: 0 }
        })
        yield* Effect.gen(function*() {
          const row = Effect.map(FleetStatus.runners, (rows) => rows.find(({ name }) => name === Support.runner))
          const first = yield* eventually(row, (row) => row !== undefined)
          expect(first).toMatchObject({ alive: true, shards: 300, accounts: 2, active: 1, reading: 1, waitingToRead: 1, reasons: [] })
          expect((yield* FleetStatus.runners).map(({ alive, name }) => [name, alive])).toEqual([["lost", false], [Support.runner, true]])
          yield* Ref.update(state, (state) => ({ ...state, shards: 0 }))
          const later = yield* eventually(row, (row) => row?.shards === 0)
          expect(later?.reasons.map(({ reason }) => reason)).toEqual(["noShards"])
          expect(millis(later?.lastSeen)).toBeGreaterThan(millis(first?.lastSeen) ?? Infinity)
        }).pipe(Effect.provide(Layer.provide(RunnerHeartbeat.layer, Support.layerRunner(state))))
        expect((yield* FleetStatus.runners).map(({ name }) => name)).toEqual(["lost"])
      })), 30_000)
})
