/** The built program's log, page and metrics while it runs, and the alerts and the dashboard that are shipped with it. */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Effect, FileSystem, Layer, Schema } from "effect"
import { readFileSync } from "node:fs"
import { account, type Running, start } from "./support/program.ts"
import { headlineOf, rowsOf } from "./support/statusPage.ts"

const layer = Layer.merge(NodeServices.layer, Sandbox.layerServer())
/** In an empty folder, beside a shop with a socket. */
const inFolder = <A, E, R>(test: (folder: string) => Effect.Effect<A, E, R>) =>
  Effect.provide(Effect.scoped(Effect.flatMap(Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped()), test)),
    layer)
const write = (path: string, content: string) => Effect.flatMap(FileSystem.FileSystem, (files) => files.writeFileString(path, content))

/** Looks until it is so; the test's own time ends a wait for what never comes. */
const until = <A, E, R>(look: Effect.Effect<A, E, R>, so: (found: A) => boolean): Effect.Effect<A, E, R> =>
  Effect.flatMap(look, (found) => so(found) ? Effect.succeed(found) : Effect.delay(until(look, so), "50 millis"))

const ask = (url: string) =>
  Effect.promise(async () => {
    const answer = await fetch(url)
    return { status: answer.status, body: await answer.text() }
  })

/** Where the program says that its page is. */
const address = (running: Running) =>
  until(Effect.sync(() => /"address":"(http:[^"]+)"/.exec(running.stderr())?.[1] ?? ""), (url) => url !== "")

const Line = Schema.fromJsonString(Schema.Struct({ logLevel: Schema.String, message: Schema.String }))

const shipped = (name: string) => readFileSync(new URL(`../../../deploy/${name}`, import.meta.url), "utf8")
const metricsIn = (text: string) => new Set(text.match(/plaza_(?:stock_sync|client)_\w+/g))
const exportedIn = (text: string) => new Set(text.split("\n").flatMap((line) => /^(plaza_\w+)[{ ]/.exec(line)?.[1] ?? []))

describe("a program that runs", () => {
  it.live("is asked for all that it shows, and exports every metric that the dashboard and the alerts name", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        yield* write(`${cwd}/stock.csv`, "productId,stock\n007,0\nMUG-BLUE-250,4\nMUG-BLUE-350,\nNO-SUCH-PRODUCT,1\n")
        const env = { ...yield* account, STOCK_SYNC_LOG_FORMAT: "json", STOCK_SYNC_PORT: "0" }
        const running = yield* start(["run", "--source", "stock.csv"], { cwd, env })
        const url = yield* address(running)
        expect(yield* ask(`${url}/healthz`)).toEqual({ status: 200, body: "ok\n" })
        expect(yield* until(ask(`${url}/readyz`), ({ status }) => status === 200)).toEqual({
          status: 200,
          body: "{\"ready\":true,\"reasons\":[]}\n"
        })
        const { body } = yield* until(ask(`${url}/metrics`), (answer) =>
          answer.body.includes("plaza_stock_sync_products{state=\"quarantined\"} 1"))
        expect(body).toContain("\nplaza_stock_sync_sends_total{outcome=\"confirmed\"} 2\n")
        expect(body).toContain("\nplaza_stock_sync_rejected_rows 1\n")
        const exported = exportedIn(body)
        for (const name of ["grafana/dashboard.json", "prometheus/alerts.yaml"]) {
          const named = metricsIn(shipped(name))
          expect(named.size).toBeGreaterThan(8)
          // Alerts leave out the runners of a fleet by a metric that only they have.
          named.delete("plaza_stock_sync_fleet_shards")
          expect(Array.from(named).filter((metric) => !exported.has(metric))).toEqual([])
        }
        const page = yield* ask(url)
        expect(page.status).toBe(200)
        expect(page.body).toContain("<th scope=\"row\">NO-SUCH-PRODUCT</th>")
        expect(rowsOf(page.body, "issue-rows")).toEqual([["line 4", "MUG-BLUE-350", "stock is empty, which does not count as zero"]])
        expect(headlineOf(page.body)).toBe("2 of 4 products in sync, 2 need you")
        expect(rowsOf(page.body, "needing-rows").map(([product, , , helps]) => [product, helps?.split(". The worker retries")[0]])).toEqual(
          [
            [
              "NO-SUCH-PRODUCT",
              "Correct the id in the source, or create the product in the store and run plaza-stock-sync retry NO-SUCH-PRODUCT"
            ],
            ["MUG-BLUE-350", "Correct line 4 of the source. It is read again without a restart."]
          ]
        )
        const status = yield* Effect.flatMap(start(["status", "--json"], { cwd, env }), ({ ended }) => ended)
        expect(JSON.parse(status.stdout)).toMatchObject({ counts: { settled: 2, quarantined: 1, rejectedRows: 1 } })
        const key = env.PLAZA_API_KEY.slice(env.PLAZA_API_KEY.indexOf("_"))
        for (const shown of [page.body, body]) expect(shown).not.toContain(key)
        yield* running.kill("SIGTERM")
        const ended = yield* running.ended
        expect(ended).toMatchObject({ status: 0, stdout: "" })
        const lines = yield* Effect.forEach(ended.stderr.trim().split("\n"), (line) => Schema.decodeUnknownEffect(Line)(line))
        expect(lines.map(({ message }) => message)).toEqual(
          expect.arrayContaining(["page.listening", "account.running", "snapshot.accepted", "worker.stopping"])
        )
        expect(lines.filter(({ logLevel }) => logLevel === "DEBUG")).toEqual([])
      })
    ))

  it.live("goes on where the collector that the environment names isn't there, and says nothing on a socket that it wasn't told of", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        yield* write(`${cwd}/stock.csv`, "productId,stock\n007,3\n")
        const env = { ...yield* account, OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" }
        const running = yield* start(["run", "--source", "stock.csv"], { cwd, env })
        yield* until(
          Effect.flatMap(Sandbox.Sandbox, ({ state }) => state),
          ({ products }) => products.some(({ id, stock }) => id === "007" && stock === 3)
        )
        expect(running.stderr()).not.toContain("page.listening")
        yield* running.kill("SIGTERM")
        expect((yield* running.ended).status).toBe(0)
      })
    ))
})

describe.each(["dashboard", "fleet"])("the dashboard %s.json", (name) => {
  const Dashboard = Schema.fromJsonString(Schema.Struct({
    uid: Schema.NonEmptyString,
    panels: Schema.Array(Schema.Struct({
      id: Schema.Number,
      title: Schema.NonEmptyString,
      gridPos: Schema.Struct({ x: Schema.Number, y: Schema.Number, w: Schema.Number, h: Schema.Number }),
      targets: Schema.Array(Schema.Struct({ expr: Schema.NonEmptyString, refId: Schema.NonEmptyString }))
    }))
  }))

  it("has panels that ask for something, side by side and none over another", () => {
    const { panels } = Schema.decodeUnknownSync(Dashboard)(shipped(`grafana/${name}.json`))
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const places = panels.flatMap(({ gridPos: { h, w, x, y } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + index % w},${y + Math.floor(index / w)}`)
    )
    expect(new Set(places).size).toBe(places.length)
    for (const { gridPos: { w, x }, targets } of panels) {
      expect(x + w).toBeLessThanOrEqual(24)
      expect(targets.length).toBeGreaterThan(0)
    }
  })
})
