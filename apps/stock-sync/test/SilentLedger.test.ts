/** The built program whose ledger is in a Postgres that falls silent: connections stay open, and nothing comes back. */
import { NodeServices } from "@effect/platform-node"
import { expect, layer } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import * as Postgres from "@plaza/testing/Postgres"
import { Context, Effect, FileSystem, Layer } from "effect"
import * as DatabaseProxy from "./support/databaseProxy.ts"
import { eventually } from "./support/eventually.ts"
import * as Program from "./support/program.ts"

class Database extends Context.Service<Database, { readonly url: string }>()("Database") {}

const services = Layer.mergeAll(Layer.orDie(Layer.effect(Database, Postgres.scoped)), NodeServices.layer, Sandbox.layerServer())

/** A worker with its ledger behind a network, and the reasons why it is not ready. */
const worker = (stopWithin: string) =>
  Effect.gen(function*() {
    const { url } = yield* Database
    const proxy = yield* DatabaseProxy.start(url)
    const files = yield* FileSystem.FileSystem
    const cwd = yield* files.makeTempDirectoryScoped()
    yield* files.writeFileString(`${cwd}/stock.csv`, "productId,stock\nMUG-BLUE-250,4\n")
    const env = {
      ...yield* Program.account,
      STOCK_SYNC_LEDGER: `${proxy.url}?schema=l${stopWithin.replace(/\W/g, "")}`,
      STOCK_SYNC_STOP_WITHIN: stopWithin
    }
    const program = yield* Program.start(["run", "--source", "stock.csv", "--port", "0"], { cwd, env })
    const [, port] = yield* eventually(
      Effect.sync(() => /http:\/\/[\w.]+:(\d+)/.exec(program.stderr()) ?? []),
      ({ length }) => length > 0
    )
    const reasons = Effect.promise(async () => {
      const response = await fetch(`http://127.0.0.1:${port}/readyz`)
      const text = await response.text()
      return response.status === 200 ? "ready" : text
    })
    yield* eventually(reasons, (text) => text === "ready")
    return { program, proxy, reasons }
  })

layer(services, { timeout: "1 minute", excludeTestServices: true })("a worker whose ledger falls silent", (it) => {
  it.effect("is not ready for that reason, and continues when the ledger responds again", () =>
    Effect.gen(function*() {
      const { program, proxy, reasons } = yield* worker("5 seconds")
      yield* proxy.set("stalled")
      expect(yield* eventually(reasons, (text) => text.includes("ledgerFailing"))).toContain("did not respond in time")
      yield* proxy.set("open")
      yield* eventually(reasons, (text) => text === "ready")
      yield* program.kill("SIGTERM")
      expect((yield* program.ended).status).toBe(0)
    }))

  for (const when of ["at once", "after it is not ready"]) {
    it.effect(`stops ${when} within its time`, () =>
      Effect.gen(function*() {
        const { program, proxy, reasons } = yield* worker(when === "at once" ? "1 second" : "2 seconds")
        yield* proxy.set("stalled")
        if (when !== "at once") yield* eventually(reasons, (text) => text.includes("ledgerFailing"))
        yield* program.kill("SIGTERM")
        expect((yield* program.ended).status).toBe(0)
      }))
  }
})
