/** Runs the built `plaza-stock-sync` against a sandbox on a socket, and compares the shop with the file. `start.ts` runs it. */
import { Sandbox, StateSnapshot } from "@plaza/sandbox"
import { Console, Effect, FileSystem, Path, Redacted, Schedule, Schema, Stream, Terminal } from "effect"
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

/** The port if it is free, else another one, which is reported for a server that people open. 0: any. */
const freePort = (wanted: number, server?: string): Effect.Effect<number> =>
  Effect.callback<number>((resume) => {
    const probe = createServer()
    probe.once("error", () => resume(Effect.succeed(0)))
    probe.listen(wanted, "127.0.0.1", () => {
      const address = probe.address()
      probe.close(() => resume(Effect.succeed(address === null || typeof address === "string" ? 0 : address.port)))
    })
  }).pipe(
    Effect.filterOrElse(
      (port) => port > 0,
      () =>
        Effect.andThen(
          server === undefined ? Effect.void : Console.log(`Port ${wanted} is in use: ${server} listens on another one.`),
          freePort(0)
        )
    )
  )

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

/** Starts the built `plaza-stock-sync` with the inventory, and ends it with the scope. */
const startWorker = Effect.fn("Demonstration.startWorker")(
  function*(
    shop: Sandbox.Sandbox["Service"],
    { inventory, ledger, program, root }: Files,
    command: string,
    options: ReadonlyArray<string>
  ) {
    const fs = yield* FileSystem.FileSystem
    const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
    if (!(yield* fs.exists(program))) {
      return yield* new DemoFailed({ message: "plaza-stock-sync is not built: run `npx -y pnpm@12.21.0 start`, which builds it first" })
    }
    return yield* spawner.spawn(ChildProcess.make(
      process.execPath,
      [program, command, "--source", inventory, "--ledger", ledger, ...options],
      {
        cwd: root,
        env: { PLAZA_BASE_URL: shop.baseUrl, PLAZA_API_KEY: shop.apiKey },
        extendEnv: true,
        stdout: "inherit",
        stderr: "inherit"
      }
    ))
  }
)

const sync = Effect.fn("Demonstration.sync")(function*(shop: Sandbox.Sandbox["Service"], files: Files) {
  const worker = yield* startWorker(shop, files, "once", [])
  const status = yield* worker.exitCode
  // 1 means that rows were rejected. The file has three invalid rows.
  if (status > 1) return yield* new DemoFailed({ message: `plaza-stock-sync exited with status ${status}` })
}, Effect.scoped)

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

const awaitPage = Effect.fn("Demonstration.awaitPage")(function*(url: string) {
  yield* HttpClient.get(url).pipe(
    Effect.retry(Schedule.max([Schedule.spaced("100 millis"), Schedule.recurs(300)])),
    Effect.mapError(() => new DemoFailed({ message: `nothing answers at ${url}` }))
  )
})

/**
 * Returns an effect that ends on Ctrl-C. The terminal sends the key and not a signal, which would also end the programs between the shell and
 * this one, with the exit code of a failure.
 */
const listenForCtrlC = Effect.gen(function*() {
  if (!process.stdin.isTTY) return Effect.never
  const terminal = yield* Terminal.Terminal
  return Stream.runDrain(Stream.fromQueue(yield* terminal.readInput))
})

/** Leaves the shop open until Ctrl-C, with a worker that sends each change of the inventory. Fails if the worker ends. */
const keepOpen = Effect.fn("Demonstration.keepOpen")(function*(shop: Sandbox.Sandbox["Service"], files: Files) {
  const port = yield* freePort(4020, "the status page")
  yield* Console.log("\nplaza-stock-sync goes on:")
  const worker = yield* startWorker(shop, files, "run", ["--port", String(port)])
  const ended = Effect.flatMap(worker.exitCode, (status) => new DemoFailed({ message: `plaza-stock-sync ended with status ${status}` }))
  const statusPage = `http://127.0.0.1:${port}/`
  yield* Effect.raceFirst(awaitPage(statusPage), ended)
  const ctrlC = yield* listenForCtrlC
  const plaza = "node apps/cli/dist/plaza.cjs"
  yield* Console.log(`
Open in a browser:
  ${shop.webUrl}console   the sandbox: its requests, faults and data
  ${statusPage}          plaza-stock-sync: its status

Or run in another terminal, in this folder:
  export PATH="$PWD/node_modules/.bin:$PATH" PLAZA_BASE_URL=${shop.baseUrl} PLAZA_API_KEY=${Redacted.value(shop.apiKey)}

  ${plaza} sandbox faults add lost   # The next write is carried out, and its response is lost.
  ${plaza} posts create --text "Fresh tea today."   # Looks for the post, and finds it.
  ${plaza} posts list --limit 3   # One post, not two.

Change a stock in ${files.inventory} and save the file: plaza-stock-sync sends it.
Press Ctrl-C to stop.
`)
  return yield* Effect.raceFirst(ended, ctrlC)
}, Effect.scoped)

export interface Options {
  /** The folder of the data, relative to the root of the repository. */
  readonly kept: string
  /** Leaves the shop and the worker open until Ctrl-C or an interruption. */
  readonly keep: boolean
}

/** Syncs once and prints what happens. Fails if shop and file differ. */
export const demonstrate = Effect.fn("Demonstration.demonstrate")(function*({ keep, kept }: Options) {
  const files = yield* locate(kept)
  const earlier = yield* earlierPort(files)
  const run = Effect.gen(function*() {
    const shop = yield* Sandbox.Sandbox
    yield* dropLedgerOfAnother(earlier, Number(new URL(shop.baseUrl).port), files)
    yield* Console.log(`The sandbox with a shop listens at ${shop.baseUrl} and keeps its data in ${kept}.`)
    yield* Console.log(`plaza-stock-sync sends the differences between ${files.inventory} and the shop:\n`)
    yield* sync(shop, files)
    const { agreed, apart, rejected } = yield* compare(shop, files)
    if (apart.length > 0) {
      return yield* new DemoFailed({ message: `shop and file differ in ${apart.length} products: ${apart.join(", ")}` })
    }
    yield* Console.log(`\nRead back from the shop: shop and file agree in all ${agreed} products that both have.`)
    if (rejected.length > 0) yield* Console.log(`Rejected, as expected:\n${rejected.map((line) => `  ${line}`).join("\n")}`)
    if (keep) {
      const stopped = Console.log(`Stopped. The data stays in ${kept}.`)
      return yield* keepOpen(shop, files).pipe(Effect.onInterrupt(() => stopped), Effect.andThen(stopped))
    }
    yield* Console.log(
      `\nNext: change a stock in ${files.inventory} and run the command again: it sends only that difference.\n` +
        "To look at the shop in a browser, run `npx -y pnpm@12.21.0 start --keep`. Then read docs/getting-started.md."
    )
  })
  const port = keep ? yield* freePort(earlier || 4010, "the sandbox") : yield* freePort(earlier)
  return yield* Effect.provide(run, Sandbox.layerServer({ data: files.shop, port }))
})
