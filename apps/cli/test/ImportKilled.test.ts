/**
 * The built program amid an import, killed without a word, again and again, interrupted, and beside another one: what its journal
 * confirms is never sent again, and every row ends up sent. `PLAZA_KILLS` says how often it is killed (8), `PLAZA_KILLS_SEED` when.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { layer } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Duration, Effect, Fiber, Layer, Random, Schema } from "effect"
import { expect } from "vitest"
import { confirmedIn, home, ordersOf, stockOf, write } from "./support/Importing.ts"
import { environment, finished, start } from "./support/Plaza.ts"

const kills = Number(process.env["PLAZA_KILLS"] ?? 8)
const seed = process.env["PLAZA_KILLS_SEED"] ?? "1"
const rows = 500

// A minute as short as a second, for the service and the program alike.
const window = Duration.seconds(1)
const ids = Array.from({ length: rows }, (_, number) => `K-${number}`)
const service = Sandbox.layerServer({
  assumptions: { rateWindow: window },
  fixtures: { products: ids.map((id) => ({ id, stock: 1_000_000 })), orders: ids.map((id) => ({ id })) }
})

const requests = Effect.flatMap(Sandbox.Sandbox, (sandbox) => sandbox.requests)

/** Ends when so many more requests have come than before. */
const untilMore = (count: number) =>
  Effect.flatMap(requests, (before) =>
    Effect.repeat(Effect.delay(requests, "2 millis"), { until: (now) => now.length >= before.length + count }))

const begin = (kind: string, file: string, state: string) =>
  Effect.flatMap(environment, (env) =>
    start([kind, "import", file, "--json"], { env: { ...env, XDG_STATE_HOME: state, PLAZA_RATE_WINDOW: "1 second" } }))

const faults = (path: string) =>
  Effect.flatMap(Sandbox.Sandbox, ({ addFault }) =>
    Effect.all([
      addFault({ kind: "delay", when: "before", millis: 15, path, rate: 0.5 }),
      addFault({ kind: "delay", when: "after", millis: 15, path, rate: 0.5 }),
      addFault({ kind: "drop", when: "after", path, rate: 0.02 }),
      addFault({ kind: "status", when: "after", status: 503, path, rate: 0.02 })
    ]))

layer(Layer.merge(service, NodeFileSystem.layer), { excludeTestServices: true })("an import", (it) => {
  for (
    const [kind, content, path] of [
      ["stock", stockOf(ids.map((id, number) => [id, number])), "/store/products/"],
      ["orders", ordersOf(ids), "/store/orders/"]
    ] as const
  ) {
    it.effect(`of ${kind} that is killed ${kills} times (seed ${seed}) ends with every row sent, and none that was confirmed a second time`,
      () =>
        Effect.gen(function*() {
          const state = yield* home
          const sandbox = yield* Sandbox.Sandbox
          const file = yield* write(state, `${kind}.csv`, content)
          yield* faults(`${path}*`)
          const lives: Array<{ readonly at: number; readonly confirmed: ReadonlyArray<string> }> = []
          for (let life = 0; life < kills; life++) {
            // Some of a life's requests are repeats: the lives together are shorter than the whole.
            const enough = yield* Random.nextIntBetween(1, Math.max(2, Math.floor(1.5 * rows / (kills + 2))))
            const child = yield* begin(kind, file, state)
            const end = yield* Effect.forkChild(finished(child))
            yield* untilMore(enough)
            yield* Effect.sync(() => child.kill("SIGKILL"))
            expect((yield* Fiber.join(end)).code).toBe("SIGKILL")
            lives.push({ at: (yield* requests).length, confirmed: yield* confirmedIn(state) })
          }
          const last = yield* finished(yield* begin(kind, file, state))
          expect(last).toMatchObject({ code: 0, stderr: "" })
          const inPlace = lives.at(-1)?.confirmed.length ?? 0
          const summary = yield* Schema.decodeUnknownEffect(
            Schema.fromJsonString(Schema.Struct({ sent: Schema.Number, unverified: Schema.Array(Schema.String) }))
          )(last.stdout)
          expect(JSON.parse(last.stdout)).toMatchObject({ rows, inPlace, alreadyShipped: [], failed: 0, left: 0 })
          expect(summary.sent + summary.unverified.length).toBe(rows - inPlace)

          const all = yield* requests
          for (const { at, confirmed } of lives) {
            const later = new Set(all.slice(at).map(({ params }) => params["id"]))
            expect(confirmed.filter((id) => later.has(id))).toEqual([])
          }
          const { orders, products } = yield* sandbox.state
          expect(kind === "stock"
            ? products.filter(({ id, stock }) => `K-${stock}` === id).length
            : orders.filter(({ id, shipment }) => shipment?.trackingNumber === `T-${id}`).length).toBe(rows)
          yield* sandbox.clearFaults
        }).pipe(Random.withSeed(seed)), 60_000 + kills * 10_000)
  }

  it.effect("that is interrupted says how far it came, ends with 130, and goes on", () =>
    Effect.gen(function*() {
      const state = yield* home
      const sandbox = yield* Sandbox.Sandbox
      const file = yield* write(state, "stock.csv", stockOf(ids.map((id) => [id, 7])))
      const env = { ...(yield* environment), XDG_STATE_HOME: state, PLAZA_RATE_WINDOW: "1 second" }
      // Its allowance is used up before all rows are sent: it can't have ended, however long the second one takes to start.
      const child = yield* start(["stock", "import", file], { env: { ...env, PLAZA_RATE_WINDOW: "10 minutes" } })
      const end = yield* Effect.forkChild(finished(child))
      yield* untilMore(115)
      const second = yield* finished(yield* start(["stock", "import", file], { env }))
      expect(second).toMatchObject({ code: 2, stdout: "" })
      expect(second.stderr).toContain(`another import of this kind is running for this account (process ${child.pid} on `)
      yield* Effect.sync(() => child.kill("SIGINT"))
      const { code, stderr, stdout } = yield* Fiber.join(end)
      expect({ code, stdout }).toEqual({ code: 130, stdout: "" })
      const sent = (yield* confirmedIn(state)).length
      expect(sent).toBeGreaterThan(100)
      expect(stderr).toBe(`${sent} of 500 rows are in place. Run the same command again to continue.\n`)
      const rest = yield* finished(yield* start(["stock", "import", file], { env }))
      expect(rest).toEqual({ code: 0, stderr: "", stdout: `${rows - sent} of 500 rows sent, ${sent} in place since an earlier run.\n` })
      expect((yield* sandbox.state).products.filter(({ stock }) => stock === 7).length).toBeGreaterThanOrEqual(rows)
      // Another service: the requests of the test before would count against the allowance.
    }).pipe(Effect.provide(Layer.fresh(service))))
})
