/** Runs the built `plaza-stock-sync` against a sandbox on a socket, and compares the shop with the file. `start.ts` runs it. */
import { Sandbox, StateSnapshot } from "@plaza/sandbox"
import { Console, Effect, FileSystem, Path, Schema } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { createServer } from "node:net"
import { readInventory } from "./inventory.ts"

class DemoFailed extends Schema.TaggedError<DemoFailed>()("DemoFailed", { message: Schema.String }) {}

const locate = Effect.fn("Demonstration.locate")(function*(kept: string) {
  const path = yield* Path.Path
  const root = yield* Effect.orDie(path.fromFileUrl(new URL("../..", import.meta.url)))
  return {
    root,
    program: path.join(root, "apps", "stock-sync", "dist", "plaza-stock-sync.cjs"),
    inventory: path.join("examples", "inventory.csv"),
    kept: path.resolve(root, kept),
    shop: path.resolve(root, kept, "shop.sqlite"),
    ledger: path.join(kept, "ledger.sqlite"),
    address: path.resolve(root, kept, "port")
  }
})
type Files = Effect.Success<ReturnType<typeof locate>>

/** The port of the previous run if its shop still exists: the ledger is bound to the address. */
const earlierPort = Effect.fn("Demonstration.earlierPort")(function*({ address, kept, shop }: Files) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.makeDirectory(kept, { recursive: true })
  const port = (yield* fs.exists(shop)) ? Number(yield* Effect.orElseSucceed(fs.readFileString(address), () => "")) : 0
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : 0
})

/** The port if it is free, else 0 for any free port. */
const freePort = (port: number) =>
  Effect.callback<number>((resume) => {
    const probe = createServer()
    probe.once("error", () => resume(Effect.succeed(0)))
    probe.listen(port, "127.0.0.1", () => probe.close(() => resume(Effect.succeed(port))))
  })

/** Removes the ledger of a shop at another address. */
const dropLedgerOfAnother = Effect.fn("Demonstration.dropLedgerOfAnother")(
  function*(before: number, now: number, { address, ledger, root }: Files) {
    if (before === now) return
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    yield* Effect.forEach(["", "-wal", "-shm", ".lock"], (end) => fs.remove(path.resolve(root, `${ledger}${end}`), { force: true }))
    yield* fs.writeFileString(address, String(now))
  }
)

const sync = Effect.fn("Demonstration.sync")(function*(shop: Sandbox.Sandbox["Service"], { inventory, ledger, program, root }: Files) {
  const fs = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  if (!(yield* fs.exists(program))) {
    return yield* new DemoFailed({ message: "plaza-stock-sync is not built: run `npx -y pnpm@12.21.0 start`, which builds it first" })
  }
  const status = yield* spawner.exitCode(ChildProcess.make(
    process.execPath,
    [program, "once", "--source", inventory, "--ledger", ledger],
    {
      cwd: root,
      env: { PLAZA_BASE_URL: shop.baseUrl, PLAZA_API_KEY: shop.apiKey },
      extendEnv: true,
      stdout: "inherit",
      stderr: "inherit"
    }
  ))
  // 1 means that rows were rejected. The file has three invalid rows.
  if (status > 1) return yield* new DemoFailed({ message: `plaza-stock-sync exited with status ${status}` })
})

const compare = Effect.fn("Demonstration.compare")(function*(shop: Sandbox.Sandbox["Service"], { inventory, root }: Files) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const rows = readInventory(yield* fs.readFileString(path.join(root, inventory)))
  const response = yield* HttpClient.get(`${shop.controlUrl}/state`)
  const state = yield* HttpClientResponse.schemaBodyJson(StateSnapshot)(response)
  const held = new Map<string, number>(state.products.map((product) => [product.id, product.stock]))
  const rejected = rows.flatMap(({ line, productId, stock }) =>
    stock === undefined
      ? [`line ${line}, ${productId}: the file has no whole stock`]
      : held.has(productId)
      ? []
      : [`line ${line}, ${productId}: the shop has no such product`]
  )
  const usable = rows.filter((row) => row.stock !== undefined && held.has(row.productId))
  const apart = usable.filter((row) => held.get(row.productId) !== row.stock)
  return { agreed: usable.length - apart.length, rejected, apart: apart.map((row) => row.productId) }
})

/** Syncs once and prints what happens. `kept` is a folder, relative to the root of the repository. Fails if shop and file differ. */
export const demonstrate = Effect.fn("Demonstration.demonstrate")(function*(kept: string) {
  const files = yield* locate(kept)
  const port = yield* earlierPort(files)
  const run = Effect.gen(function*() {
    const shop = yield* Sandbox.Sandbox
    yield* dropLedgerOfAnother(port, Number(new URL(shop.baseUrl).port), files)
    yield* Console.log(`The sandbox with a shop listens at ${shop.baseUrl} and keeps its data in ${kept}.`)
    yield* Console.log(`plaza-stock-sync sends the differences between ${files.inventory} and the shop:\n`)
    yield* sync(shop, files)
    const { agreed, apart, rejected } = yield* compare(shop, files)
    if (apart.length > 0) {
      return yield* new DemoFailed({ message: `shop and file differ in ${apart.length} products: ${apart.join(", ")}` })
    }
    yield* Console.log(`\nRead back from the shop: shop and file agree in all ${agreed} products that both have.`)
    if (rejected.length > 0) yield* Console.log(`Rejected, as expected:\n${rejected.map((line) => `  ${line}`).join("\n")}`)
    yield* Console.log(
      `\nNext: change a stock in ${files.inventory} and run the command again: it sends only that difference.\n` +
        "To try the interface yourself, run `node apps/cli/dist/plaza.cjs sandbox start`, and read docs/getting-started.md."
    )
  })
  return yield* Effect.provide(run, Sandbox.layerServer({ data: files.shop, port: yield* freePort(port) }))
})
