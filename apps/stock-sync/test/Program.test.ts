/** The built program over a real socket and real files, judged by what the sandbox holds, its output and its exit status. */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import Database from "better-sqlite3"
import { Effect, Layer, Redacted } from "effect"
import { createServer, type RequestListener } from "node:http"
import { account, dist, parsed, run, start } from "./support/program.js"
import { arrived, held } from "./support/sandbox.js"

const layer = Layer.merge(NodeContext.layer, Sandbox.layerServer())
/** In an empty folder, beside a shop with a socket. */
const inFolder = <A, E, R>(test: (folder: string) => Effect.Effect<A, E, R>) =>
  Effect.provide(Effect.scoped(Effect.flatMap(Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped()), test)),
    layer)
const write = (path: string, content: string) => Effect.flatMap(FileSystem.FileSystem, (files) => files.writeFileString(path, content))
const csv = (wanted: Readonly<Record<string, number>>) =>
  `productId,stock\n${Object.entries(wanted).map(([id, stock]) => `"${id}",${stock}\n`).join("")}`
// A run waits for what may still take effect.
const lateWrites = { STOCK_SYNC_LATE_WRITES: "2 seconds" }
const wanted = { "MUG-BLUE-250": 4, "007": 0, "CAP/RED L": 7, "Ä-7": 1, "SET #3": 2, "50%-OFF-BOX": 3, "BOX?MYSTERY": 0, "ŁÓDŹ-PRINT": 9 }
const ids = Object.keys(wanted)

/** A server of a test's own, for as long as the test lasts. */
const listening = (answer: RequestListener) =>
  Effect.acquireRelease(
    Effect.async<{ readonly port: number; readonly close: () => void }>((resume) => {
      const server = createServer(answer).listen(0, "127.0.0.1", () => {
        const address = server.address()
        const close = () => {
          server.close()
          server.closeAllConnections()
        }
        resume(Effect.succeed({ port: typeof address === "object" && address !== null ? address.port : 0, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  ).pipe(Effect.map(({ port }) => port))

describe("once", () => {
  it.live("brings the store to the stock of the file, and sends nothing the second time", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const env = yield* account
        yield* write(`${cwd}/stock.csv`, csv(wanted))
        const first = yield* run(["once", "--source", "stock.csv"], { cwd, env })
        expect(first).toMatchObject({
          status: 0,
          stderr: "",
          stdout: "confirmed\t8\nunchanged\t0\nrows rejected\t0\nquarantined\t0\ndoubtful\t0\npending\t0\n"
        })
        expect(yield* held(...ids)).toEqual(wanted)
        const second = yield* run(["once", "--json"], { cwd, env: { ...env, STOCK_SYNC_SOURCE: "stock.csv" } })
        expect(second.status).toBe(0)
        expect(parsed(second.stdout)).toMatchObject({
          confirmed: 0,
          unchanged: 8,
          rejectedRows: 0,
          quarantined: 0,
          doubtful: 0,
          pending: 0,
          complete: true,
          stopped: null
        })
        expect(yield* arrived).toHaveLength(8)
      })
    ))

  it.live("lists rejected rows and quarantined products, sends the rest, and ends with status 1 and a sentence", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const env = yield* account
        yield* write(`${cwd}/stock.csv`, "productId,stock\n007,5\n0042,\n0043,many\nNO SUCH,1\nA,1\nA,2\n")
        const text = yield* run(["once", "--source", "stock.csv"], { cwd, env })
        expect(text.status).toBe(1)
        expect(text.stderr).toBe(
          "plaza-stock-sync: 4 rows of the source rejected, 1 product refused by the service: correct them, and run it again\n"
        )
        for (const line of ["line 3\t0042\tstock is empty", "line 4\t0043\tstock \"many\" is not a number", "line 6\tA\t", "line 7\tA\t"]) {
          expect(text.stdout).toContain(`\n${line}`)
        }
        expect(text.stdout).toMatch(/\nNO SUCH\t1\t\d{4}-\S+\tNOT_FOUND: /)
        expect(yield* held("007")).toEqual({ "007": 5 })
        const json = yield* run(["once", "--source", "stock.csv", "--json"], { cwd, env })
        expect(json.status).toBe(1)
        expect(parsed(json.stdout)).toMatchObject({
          unchanged: 1,
          rejectedRows: 4,
          quarantined: 1,
          complete: false,
          rowIssues: [{ row: 3, productId: "0042", kind: "rejected" }, { row: 4 }, { row: 6 }, { row: 7 }],
          quarantinedProducts: [{ productId: "NO SUCH", state: "quarantined", refusal: { code: "NOT_FOUND" } }]
        })
        expect(parsed(json.stderr)).toMatchObject({ error: { tag: "Incomplete", code: null, status: null } })
      })
    ))

  it.live("sends what was wanted before although the source is gone, reports both, and ends with the source's status", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const { addFault } = yield* Sandbox.Sandbox
        const env = { ...yield* account, ...lateWrites }
        yield* addFault({ kind: "status", when: "before", status: 429, retryAfter: "1000", method: "PATCH", times: 1 })
        yield* write(`${cwd}/stock.csv`, csv(wanted))
        expect(yield* run(["once", "--source", "stock.csv", "--concurrency", "1"], { cwd, env })).toMatchObject({ status: 6 })
        const gone = yield* run(["once", "--source", "none.csv"], { cwd, env })
        expect(gone).toMatchObject({
          status: 2,
          stdout: "confirmed\t8\nunchanged\t0\nrows rejected\t0\nquarantined\t0\ndoubtful\t0\npending\t0\n"
        })
        expect(gone.stderr).toContain("none.csv")
        expect(yield* held(...ids)).toEqual(wanted)
      })
    ))

  it.live("reads standard input, other columns and semicolons, and logs no key at any level", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const env = {
          ...yield* account,
          STOCK_SYNC_STOCK_COLUMN: "Menge",
          STOCK_SYNC_CONCURRENCY: "2",
          STOCK_SYNC_LEDGER: "other.sqlite",
          PLAZA_LOG_LEVEL: "Trace"
        }
        const input = "\uFEFFsku;Name;Menge\r\n007;\"Key ring; brass\";12,00\r\n\"Ä-7\";x;3\r\n"
        expect(yield* run(["once", "--source", "-", "--id-column", "sku"], { cwd, env, input })).toMatchObject({ status: 0 })
        expect(yield* held("007", "Ä-7")).toEqual({ "007": 12, "Ä-7": 3 })
        expect(yield* (yield* FileSystem.FileSystem).exists(`${cwd}/other.sqlite`)).toBe(true)
      })
    ))

  it.live("reads every kind of source", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const env = yield* account
        const json = (stock: number) => JSON.stringify([{ productId: "007", stock }])
        yield* write(`${cwd}/a.json`, json(1))
        yield* write(`${cwd}/b.txt`, `{"result":{"rows":${json(2)}}}`)
        yield* write(`${cwd}/c.jsonl`, `{"sku":"007","qty":"3"}\n`)
        yield* write(`${cwd}/d.csv`, "productId|stock\n007|4\n")
        const database = new Database(`${cwd}/e.db`)
        database.exec("CREATE TABLE product (productId TEXT, stock INTEGER); INSERT INTO product VALUES ('007', 5)")
        database.close()
        const port = yield* listening((_, response) => response.setHeader("content-type", "application/json").end(json(6)))
        const sources: ReadonlyArray<Readonly<Record<string, string>>> = [
          { SOURCE: "a.json" },
          { SOURCE: "b.txt", FORMAT: "json", ITEMS: "result.rows" },
          { SOURCE: "c.jsonl", ID_COLUMN: "sku", STOCK_COLUMN: "qty" },
          { SOURCE: "d.csv", DELIMITER: "|" },
          { SOURCE: "sqlite:e.db", QUERY: "SELECT productId, stock FROM product" },
          { SOURCE: `http://127.0.0.1:${port}/`, SOURCE_AUTHORIZATION: "Bearer told-to-nobody" }
        ]
        for (const [index, told] of sources.entries()) {
          const variables = Object.fromEntries(Object.entries(told).map(([name, value]) => [`STOCK_SYNC_${name}`, value]))
          const ended = yield* run(["once"], { cwd, env: { ...env, ...variables } })
          expect({ told, ended }).toMatchObject({ ended: { status: 0, stderr: "" } })
          expect(yield* held("007")).toEqual({ "007": index + 1 })
        }
      })
    ))

  it.live("sends what the rules make of a file that has settled, and follows an edit of the rules", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const env = {
          ...yield* account,
          STOCK_SYNC_SETTLE: "300 millis",
          STOCK_SYNC_SOURCE: "stock.csv",
          STOCK_SYNC_RULES: "rules.csv",
          STOCK_SYNC_BUFFER: "1"
        }
        yield* write(`${cwd}/stock.csv`, "productId,stock\nSKU-7,9\nÄ-7,5\nSET #3,4\n")
        yield* write(`${cwd}/rules.csv`, "id,productId,max,exclude\nSKU-7,007,3,\nSET #3,,,yes\n")
        expect(yield* run(["once"], { cwd, env })).toMatchObject({ status: 0, stderr: "" })
        expect(yield* held("007", "Ä-7", "SET #3")).toEqual({ "007": 3, "Ä-7": 4, "SET #3": 0 })
        yield* write(`${cwd}/rules.csv`, "id,productId,max\nSKU-7,007,\n")
        expect(yield* run(["once"], { cwd, env })).toMatchObject({ status: 0, stderr: "" })
        expect(yield* held("007", "Ä-7", "SET #3")).toEqual({ "007": 8, "Ä-7": 4, "SET #3": 3 })
      })
    ))

  it.live("works in an empty folder elsewhere, with nothing but its own files and two variables", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        yield* files.copy(dist, `${cwd}/moved`)
        yield* write(`${cwd}/stock.csv`, csv(wanted))
        const program = `${cwd}/moved/plaza-stock-sync.mjs`
        expect(yield* run(["once", "--source", "stock.csv"], { cwd, env: yield* account, program })).toMatchObject({ status: 0 })
        expect(yield* run(["status"], { cwd, program })).toMatchObject({ status: 0 })
        expect(yield* held(...ids)).toEqual(wanted)
      })
    ))
})

describe("plan and status", () => {
  it.live("plan shows the order without a key, sends nothing and makes no file", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        yield* write(`${cwd}/stock.csv`, csv(wanted))
        const text = yield* run(["plan", "--source", "stock.csv"], { cwd })
        expect(text).toMatchObject({ status: 0, stderr: "" })
        expect(text.stdout).toContain("to send\t8\nunchanged\t0\nrows rejected\t0\n")
        expect(text.stdout).toContain("\n007\t?\t0\tsold out\nBOX?MYSTERY\t?\t0\tsold out\n50%-OFF-BOX\t?\t3\tnever confirmed\n")
        expect(yield* files.readDirectory(cwd)).toEqual(["stock.csv"])

        yield* run(["once", "--source", "stock.csv"], { cwd, env: yield* account })
        yield* write(`${cwd}/stock.csv`, csv({ ...wanted, "007": 5, "CAP/RED L": 0 }))
        const before = yield* run(["status", "--json"], { cwd })
        const json = yield* run(["plan", "--source", "stock.csv", "--json"], { cwd })
        expect(parsed(json.stdout)).toEqual({
          send: 2,
          unchanged: 6,
          rejectedRows: 0,
          negativeRows: 0,
          quarantined: 0,
          missing: 0,
          goneSpared: false,
          held: null,
          steps: [{ productId: "CAP/RED L", from: 7, to: 0, reason: "soldOut" }, {
            productId: "007",
            from: 0,
            to: 5,
            reason: "backInStock"
          }],
          rowIssues: []
        })
        expect((yield* run(["status", "--json"], { cwd })).stdout).toBe(before.stdout)
        expect(yield* arrived).toHaveLength(8)
      })
    ))

  it.live("status shows what is settled and what is quarantined, with the reason", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const env = yield* account
        yield* write(`${cwd}/stock.csv`, `${csv(wanted)}NO SUCH,3\nX,\n`)
        yield* run(["once", "--source", "stock.csv"], { cwd, env })
        const text = yield* run(["status"], { cwd })
        expect(text.status).toBe(0)
        expect(text.stdout).toContain(`account\t1001 at ${env.PLAZA_BASE_URL}\nsettled\t8\n`)
        expect(text.stdout).toContain("\nNO SUCH\tquarantined\t3\t?\t1\t")
        expect(text.stdout).toContain("\nline 11\tX\tstock is empty")
        const json = yield* run(["status", "--json"], { cwd })
        expect(parsed(json.stdout)).toMatchObject({
          account: { id: "1001", baseUrl: env.PLAZA_BASE_URL },
          counts: { settled: 8, quarantined: 1, doubtful: 0, pending: 0, sending: 0, rejectedRows: 1 },
          products: [{ productId: "NO SUCH", state: "quarantined", wanted: 3, confirmed: null, refusal: { code: "NOT_FOUND", value: 3 } }],
          rowIssues: [{ row: 11, productId: "X", kind: "rejected" }]
        })
      })
    ))
})

describe("held snapshots and the quarantine", () => {
  it.live("a source that sells out much is held with status 2, shown by plan and status, and taken once it is confirmed", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const env = { ...yield* account, STOCK_SYNC_GUARD_COUNT: "2" }
        yield* write(`${cwd}/stock.csv`, csv(wanted))
        yield* run(["once", "--source", "stock.csv"], { cwd, env })
        const emptied = Object.fromEntries(ids.map((id) => [id, 0]))
        yield* write(`${cwd}/stock.csv`, csv(emptied))
        const plan = yield* run(["plan", "--source", "stock.csv"], { cwd, env })
        expect(plan).toMatchObject({ status: 0 })
        expect(plan.stdout).toContain("\nwould be held\tof 8 products, 6 sell out\n")
        expect(plan.stderr).toContain("nothing of this source would be sent while it is held")
        expect(plan.stdout).toContain("\nCAP/RED L\t7\t0\tsells out\n")
        const refused = yield* run(["once", "--source", "stock.csv"], { cwd, env })
        expect(refused).toMatchObject({ status: 2, stdout: "" })
        expect(refused.stderr).toContain("held as snapshot 1, because it is implausible: of 8 products, 6 sell out")
        const shown = yield* run(["status", "--json"], { cwd })
        expect(parsed(shown.stdout)).toMatchObject({
          held: { snapshot: 1, soldOut: 6, catalogue: 8, confirmed: false },
          counts: { settled: 8 }
        })
        expect((yield* run(["status"], { cwd })).stdout).toContain("snapshot 1, since ")
        expect(yield* arrived).toHaveLength(8)
        expect(yield* run(["confirm", "2"], { cwd, env })).toMatchObject({ status: 1 })
        expect(yield* run(["confirm", "1"], { cwd, env })).toMatchObject({ status: 0 })
        expect(yield* run(["once", "--source", "stock.csv"], { cwd, env })).toMatchObject({ status: 0 })
        expect(yield* held(...ids)).toEqual(emptied)
        expect(parsed((yield* run(["status", "--json"], { cwd })).stdout)).toMatchObject({
          held: null,
          waiting: { soldOut: 0 },
          oldestWaiting: null
        })
      })
    ))

  it.live("a product that the source no longer names is set to 0 with --gone zero", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const env = yield* account
        yield* write(`${cwd}/stock.csv`, csv(wanted))
        yield* run(["once", "--source", "stock.csv"], { cwd, env })
        const { "Ä-7": _, ...rest } = wanted
        yield* write(`${cwd}/stock.csv`, csv(rest))
        expect(yield* run(["once", "--source", "stock.csv"], { cwd, env })).toMatchObject({ status: 0 })
        expect(yield* held("Ä-7")).toEqual({ "Ä-7": 1 })
        expect(yield* run(["once", "--source", "stock.csv", "--gone", "zero"], { cwd, env })).toMatchObject({ status: 0 })
        expect(yield* held(...ids)).toEqual({ ...wanted, "Ä-7": 0 })
      })
    ))

  it.live("retry releases quarantined products, and names those that are not", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const { setProduct } = yield* Sandbox.Sandbox
        const env = yield* account
        yield* write(`${cwd}/stock.csv`, csv({ ...wanted, NEW: 3 }))
        expect(yield* run(["once", "--source", "stock.csv"], { cwd, env })).toMatchObject({ status: 1 })
        yield* setProduct({ id: "NEW" })
        // It is retried when it is due, which is not yet.
        expect(yield* run(["once", "--source", "stock.csv"], { cwd, env })).toMatchObject({ status: 1 })
        const wrong = yield* run(["retry", "007", "NEW"], { cwd })
        expect(wrong).toMatchObject({
          status: 1,
          stdout: "released\t1\n",
          stderr: "plaza-stock-sync: \"007\" is not quarantined; `status` lists those that are\n"
        })
        expect(yield* run(["once", "--source", "stock.csv"], { cwd, env })).toMatchObject({ status: 0 })
        expect(yield* held("NEW")).toEqual({ NEW: 3 })
        expect(parsed((yield* run(["retry", "--json"], { cwd })).stdout)).toEqual({ released: [] })
      })
    ))
})

describe("crashes", () => {
  const late = Object.fromEntries(ids.map((id, index) => [id, 20 + index]))
  const moments = [
    { moment: "while the first requests are on their way there", when: "before", answered: 0 },
    { moment: "while the first answers are on their way back", when: "after", answered: 0 },
    { moment: "in the middle, with requests on their way there", when: "before", answered: 4 },
    { moment: "in the middle, with answers on their way back", when: "after", answered: 4 }
  ] as const
  for (const { answered, moment, when } of moments) {
    it.live(`killed ${moment}, the next run brings the store to what the file says by then`, () =>
      inFolder((cwd) =>
        Effect.gen(function*() {
          const { addFault, clearFaults, requests } = yield* Sandbox.Sandbox
          const env = { ...yield* account, ...lateWrites }
          yield* write(`${cwd}/stock.csv`, csv(wanted))
          // The first so many are answered at once, the ones behind them are held.
          if (answered > 0) yield* addFault({ kind: "delay", when: "before", millis: 1, method: "PATCH", times: answered })
          yield* addFault({ kind: "delay", when, millis: 600_000, method: "PATCH", times: 100 })
          const running = yield* start(["once", "--source", "stock.csv", "--concurrency", "2"], { cwd, env })
          while ((yield* arrived).length < answered + 2) yield* Effect.sleep("5 millis")
          yield* running.kill("SIGKILL")
          expect((yield* running.ended).status).toBe("SIGKILL")
          yield* clearFaults
          const left = yield* run(["status", "--json"], { cwd })
          expect(parsed(left.stdout)).toMatchObject({ counts: { settled: answered, sending: 2, pending: 8 - answered - 2 } })

          // The values in flight when the process died differ from the new ones: no older value may win.
          const changed = { ...late, "007": 0 }
          yield* write(`${cwd}/stock.csv`, csv(changed))
          expect(yield* run(["once", "--source", "stock.csv"], { cwd, env })).toMatchObject({ status: 0 })
          expect(yield* held(...ids)).toEqual(changed)
          const before = (yield* requests).length
          expect(yield* run(["once", "--source", "stock.csv"], { cwd, env })).toMatchObject({ status: 0 })
          expect((yield* requests).length).toBe(before + 1)
        })
      ))
  }

  it.live("killed over and over at any moment, it comes to an end that equals the file", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const { addFault, clearFaults } = yield* Sandbox.Sandbox
        const env = { ...yield* account, ...lateWrites }
        yield* write(`${cwd}/stock.csv`, csv(wanted))
        yield* addFault({ kind: "delay", when: "after", millis: 40, method: "PATCH", times: 1000 })
        for (const requests of [1, 2, 3, 5]) {
          const from = (yield* arrived).length
          const running = yield* start(["once", "--source", "stock.csv", "--concurrency", "1"], { cwd, env })
          while ((yield* arrived).length < from + requests) yield* Effect.sleep("2 millis")
          yield* running.kill("SIGKILL")
          yield* running.ended
        }
        yield* clearFaults
        expect(yield* run(["once", "--source", "stock.csv"], { cwd, env })).toMatchObject({ status: 0 })
        expect(yield* held(...ids)).toEqual(wanted)
      })
    ))
})

describe("beside another process, and signals", () => {
  /** The program with its first requests held for a while. */
  const holding = (cwd: string, millis: number, ...further: ReadonlyArray<string>) =>
    Effect.gen(function*() {
      const { addFault } = yield* Sandbox.Sandbox
      const env = { ...yield* account, ...lateWrites }
      yield* write(`${cwd}/stock.csv`, csv(wanted))
      yield* addFault({ kind: "delay", when: "after", millis, method: "PATCH", times: 100 })
      const running = yield* start(["once", "--source", "stock.csv", "--concurrency", "2", ...further], { cwd, env })
      while ((yield* arrived).length < 2) yield* Effect.sleep("5 millis")
      return { env, running }
    })

  it.live("a second process on the same ledger ends with status 2; status and plan work", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const { env } = yield* holding(cwd, 600_000)
        const second = yield* run(["once", "--source", "stock.csv"], { cwd, env })
        expect(second.status).toBe(2)
        expect(second.stderr).toContain("nother plaza-stock-sync works with the ledger plaza-stock-sync.sqlite")
        expect(parsed((yield* run(["status", "--json"], { cwd })).stdout)).toMatchObject({ counts: { sending: 2, pending: 6 } })
        expect(yield* run(["plan", "--source", "stock.csv"], { cwd })).toMatchObject({ status: 0 })
        expect(yield* arrived).toHaveLength(2)
      })
    ))

  for (const [signal, status] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
    it.live(`${signal} lets finish what is in flight and ends with status ${status}; the next run goes on from there`, () =>
      inFolder((cwd) =>
        Effect.gen(function*() {
          const { clearFaults } = yield* Sandbox.Sandbox
          const { env, running } = yield* holding(cwd, 400)
          yield* running.kill(signal)
          const ended = yield* running.ended
          expect(ended.status).toBe(status)
          expect(ended.stderr).toContain("the next run continues from here")
          expect(parsed((yield* run(["status", "--json"], { cwd })).stdout)).toMatchObject({
            counts: { settled: 2, sending: 0, doubtful: 0, pending: 6 }
          })
          yield* clearFaults
          expect(yield* run(["once", "--source", "stock.csv"], { cwd, env })).toMatchObject({ status: 0 })
          expect(yield* held(...ids)).toEqual(wanted)
        })
      ))
  }

  it.live("a stop asked for as JSON is one object and nothing else", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const { running } = yield* holding(cwd, 200, "--json")
        yield* running.kill("SIGTERM")
        const { status, stderr, stdout } = yield* running.ended
        expect({ status, stdout }).toEqual({ status: 143, stdout: "" })
        expect(parsed(stderr)).toMatchObject({ error: { tag: "Interrupted" } })
      })
    ))
})

describe("wrong input", () => {
  interface Wrong {
    readonly name: string
    readonly args?: ReadonlyArray<string>
    readonly env?: Readonly<Record<string, string | undefined>>
    readonly file?: string
    readonly status: number
    readonly says: ReadonlyArray<string>
  }
  const good = csv(wanted)
  const cases: ReadonlyArray<Wrong> = [
    { name: "no source", args: ["once"], status: 2, says: ["--source", "STOCK_SYNC_SOURCE"] },
    { name: "an empty source", args: ["once", "--source", ""], status: 2, says: ["--source", "STOCK_SYNC_SOURCE"] },
    { name: "no base address", env: { PLAZA_BASE_URL: undefined }, status: 2, says: ["PLAZA_BASE_URL"] },
    { name: "no key", env: { PLAZA_API_KEY: undefined }, status: 2, says: ["PLAZA_API_KEY"] },
    { name: "a malformed key", env: { PLAZA_API_KEY: "key_1 key_2" }, status: 2, says: ["PLAZA_API_KEY"] },
    { name: "a malformed base address", env: { PLAZA_BASE_URL: "shop" }, status: 2, says: ["PLAZA_BASE_URL"] },
    { name: "a rate limit that is no number", env: { PLAZA_RATE_LIMIT: "fast" }, status: 2, says: ["PLAZA_RATE_LIMIT"] },
    {
      name: "a host that doesn't exist",
      env: { PLAZA_BASE_URL: "https://no-such-host.invalid/open/v1" },
      status: 7,
      says: ["no-such-host.invalid"]
    },
    { name: "a port where nobody listens", env: { PLAZA_BASE_URL: "http://127.0.0.1:1/open/v1" }, status: 7, says: ["127.0.0.1:1"] },
    { name: "an unknown key", env: { PLAZA_API_KEY: `key_${"x".repeat(40)}` }, status: 4, says: ["PLAZA_API_KEY"] },
    { name: "a file that isn't there", args: ["once", "--source", "none.csv"], status: 2, says: ["none.csv", "--source"] },
    { name: "a folder for a file", args: ["once", "--source", "."], status: 2, says: ["folder", "--source"] },
    { name: "an empty file", file: "", status: 2, says: ["stock.csv", "it is empty"] },
    { name: "a header alone", file: "productId,stock\n", status: 2, says: ["stock.csv", "no rows"] },
    { name: "a file without the column", file: "sku,stock\nA,1\n", status: 2, says: ["\"productId\"", "\"sku\"", "--id-column"] },
    { name: "a file with broken quoting", file: "productId,stock\n007,1\n\"A,2\nB,3\n", status: 2, says: ["line 3", "quote"] },
    {
      name: "a file of bad rows alone",
      file: "productId,stock\nA,\nB,many\n",
      status: 2,
      says: ["all of its 2 rows are", "line 2", "stock is empty"]
    },
    {
      name: "more bad rows than allowed",
      args: ["once", "--source", "stock.csv", "--max-bad-rows", "10%"],
      file: "productId,stock\n007,1\nA,\n",
      status: 2,
      says: ["1 of 2 rows", "--max-bad-rows", "STOCK_SYNC_MAX_BAD_ROWS"]
    },
    {
      name: "a share that is none",
      env: { STOCK_SYNC_MAX_BAD_ROWS: "200%" },
      status: 2,
      says: ["200%", "STOCK_SYNC_MAX_BAD_ROWS", "--max-bad-rows"]
    },
    {
      name: "an unknown format",
      args: ["once", "--source", "stock.csv", "--format", "xml"],
      status: 2,
      says: ["xml", "ndjson", "STOCK_SYNC_FORMAT"]
    },
    { name: "a file that is in another format", env: { STOCK_SYNC_FORMAT: "json" }, status: 2, says: ["stock.csv", "not a JSON document"] },
    {
      name: "a delimiter of two characters",
      args: ["once", "--source", "stock.csv", "--delimiter", "||"],
      status: 2,
      says: ["||", "STOCK_SYNC_DELIMITER"]
    },
    { name: "a place in a document that is none", env: { STOCK_SYNC_ITEMS: "a..b" }, status: 2, says: ["a..b", "--items"] },
    {
      name: "a time that is none",
      env: { STOCK_SYNC_SOURCE_TIMEOUT: "soon" },
      status: 2,
      says: ["soon", "--source-timeout", "STOCK_SYNC_SOURCE_TIMEOUT"]
    },
    {
      name: "an authorization that no header can carry",
      env: { STOCK_SYNC_SOURCE_AUTHORIZATION: "Bearer \u{1F511}" },
      status: 2,
      says: ["STOCK_SYNC_SOURCE_AUTHORIZATION"]
    },
    {
      name: "headers that are none",
      env: { STOCK_SYNC_SOURCE_HEADERS: "X-Key hunter2" },
      status: 2,
      says: ["STOCK_SYNC_SOURCE_HEADERS", "header 1"]
    },
    {
      name: "a settle time that is none",
      args: ["once", "--source", "stock.csv", "--settle", "soon"],
      status: 2,
      says: ["soon", "--settle", "STOCK_SYNC_SETTLE"]
    },
    { name: "a wait that is none", env: { STOCK_SYNC_UNFINISHED_WAIT: "long" }, status: 2, says: ["long", "--unfinished-wait"] },
    {
      name: "a done marker that doesn't come",
      args: ["once", "--source", "stock.csv", "--done-marker", "done", "--unfinished-wait", "0 seconds"],
      status: 7,
      says: ["stock.csv", "done does not exist"]
    },
    {
      name: "a buffer below zero",
      args: ["once", "--source", "stock.csv", "--buffer=-1"],
      status: 2,
      says: ["-1", "--buffer", "STOCK_SYNC_BUFFER"]
    },
    { name: "a max that is no number", env: { STOCK_SYNC_MAX: "few" }, status: 2, says: ["few", "--max", "STOCK_SYNC_MAX"] },
    {
      name: "rules that aren't there",
      args: ["once", "--source", "stock.csv", "--rules", "none.csv"],
      status: 2,
      says: ["none.csv", "--rules", "STOCK_SYNC_RULES"]
    },
    {
      name: "rules with a wrong column",
      args: ["once", "--source", "stock.csv", "--rules", "stock.csv"],
      status: 2,
      says: ["stock.csv, line 1", "unknown column"]
    },
    {
      name: "a choice that is none",
      args: ["once", "--source", "stock.csv", "--unmapped", "drop"],
      status: 2,
      says: ["drop", "--unmapped"]
    },
    {
      name: "a rejection without rules",
      args: ["once", "--source", "stock.csv", "--unmapped", "reject"],
      status: 2,
      says: ["--unmapped", "--rules"]
    },
    {
      name: "a user in the address",
      args: ["once", "--source", "http://user:pass@127.0.0.1:1/"],
      status: 2,
      says: ["STOCK_SYNC_SOURCE_AUTHORIZATION"]
    },
    {
      name: "a database without a question",
      args: ["once", "--source", "sqlite:stock.db"],
      status: 2,
      says: ["--query", "STOCK_SYNC_QUERY"]
    },
    {
      name: "a database that isn't there",
      args: ["once", "--source", "sqlite:none.db", "--query", "SELECT 1"],
      status: 2,
      says: ["none.db", "can't be opened"]
    },
    {
      name: "a database where nobody listens",
      args: ["once", "--source", "postgres://u:p@127.0.0.1:1/x", "--query", "SELECT 1"],
      status: 7,
      says: ["127.0.0.1:1"]
    },
    {
      name: "one column for both",
      args: ["once", "--source", "stock.csv", "--id-column", "stock"],
      status: 2,
      says: ["--id-column", "--stock-column"]
    },
    {
      name: "a ledger in a folder that isn't there",
      args: ["once", "--source", "stock.csv", "--ledger", "none/ledger"],
      status: 2,
      says: ["none", "--ledger"]
    },
    {
      name: "a folder for a ledger",
      args: ["once", "--source", "stock.csv", "--ledger", "."],
      status: 2,
      says: ["is a folder", "--ledger"]
    },
    {
      name: "a ledger that is another file",
      args: ["once", "--source", "stock.csv", "--ledger", "stock.csv"],
      status: 2,
      says: ["is not a ledger", "--ledger"]
    },
    { name: "a status of no ledger", args: ["status"], status: 2, says: ["plaza-stock-sync.sqlite", "once"] },
    {
      name: "a concurrency of zero",
      args: ["once", "--source", "stock.csv", "--concurrency", "0"],
      status: 2,
      says: ["--concurrency", "STOCK_SYNC_CONCURRENCY"]
    },
    {
      name: "a concurrency that is no number",
      env: { STOCK_SYNC_CONCURRENCY: "many" },
      status: 2,
      says: ["many", "STOCK_SYNC_CONCURRENCY"]
    },
    {
      name: "an unknown outcome",
      args: ["once", "--source", "stock.csv", "--gone", "hide"],
      status: 2,
      says: ["hide", "--gone", "STOCK_SYNC_GONE"]
    },
    { name: "a share that is none", env: { STOCK_SYNC_GUARD_SHARE: "120%" }, status: 2, says: ["120%", "STOCK_SYNC_GUARD_SHARE"] },
    { name: "a count that is none", env: { STOCK_SYNC_GUARD_COUNT: "-1" }, status: 2, says: ["-1", "STOCK_SYNC_GUARD_COUNT"] },
    {
      name: "a time for late writes that is none",
      env: { STOCK_SYNC_LATE_WRITES: "never" },
      status: 2,
      says: ["never", "STOCK_SYNC_LATE_WRITES", "--late-writes"]
    },
    {
      name: "a Postgres that isn't there",
      args: ["once", "--source", "stock.csv", "--ledger", "postgres://u:hunter2@127.0.0.1:1/x"],
      status: 2,
      says: ["postgres://127.0.0.1:1/x can't be reached"]
    },
    { name: "a retry without a ledger", args: ["retry"], status: 2, says: ["does not exist yet", "once"] },
    { name: "an unknown option", args: ["once", "--sauce", "stock.csv"], status: 2, says: ["--sauce"] },
    { name: "an option without its value", args: ["once", "--source"], status: 2, says: ["--source"] },
    { name: "an unknown command", args: ["twice"], status: 2, says: ["twice", "once"] },
    { name: "a word too many", args: ["once", "stock.csv"], status: 2, says: ["stock.csv"] }
  ]

  it.live("of every kind is one sentence with what to change and the right status; nothing is sent and nothing lost",
    () =>
      inFolder((cwd) =>
        Effect.gen(function*() {
          const files = yield* FileSystem.FileSystem
          const right = yield* account
          yield* Effect.forEach(cases, ({ args = ["once", "--source", "stock.csv"], env = {}, file = good, name, says, status }) =>
            Effect.gen(function*() {
              const own = yield* files.makeTempDirectory({ directory: cwd })
              yield* write(`${own}/stock.csv`, file)
              const told = Object.entries({ ...right, ...env }).flatMap((
                [variable, value]
              ) => (value === undefined ? [] : [[variable, value] as const]))
              const { status: ended, stderr, stdout } = yield* run(args, { cwd: own, env: Object.fromEntries(told) })
              // The sentence, and at most what to do on lines of their own.
              const [sentence = "", ...advice] = stderr.trimEnd().split("\n")
              expect({
                name,
                ended,
                stdout,
                stderr,
                begins: sentence.startsWith("plaza-stock-sync: "),
                indented: advice.every((line) => line.startsWith("  ")),
                missing: says.filter((part) => !stderr.includes(part)),
                untouched: (yield* files.readFileString(`${own}/stock.csv`)) === file
              }).toEqual({ name, ended: status, stdout: "", stderr, begins: true, indented: true, missing: [], untouched: true })
            }), { concurrency: 2, discard: true })
          expect(yield* arrived).toEqual([])
        })
      ), 600_000)

  it.live("a ledger of another account is refused before anything is sent", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const { createAccount, createKey } = yield* Sandbox.Sandbox
        const env = { ...yield* account, ...lateWrites }
        yield* write(`${cwd}/stock.csv`, csv({ "007": 1 }))
        yield* run(["once", "--source", "stock.csv"], { cwd, env })
        const other = yield* createAccount()
        const { apiKey } = yield* createKey(other.id)
        yield* write(`${cwd}/stock.csv`, csv({ "007": 2 }))
        const refused = yield* run(["once", "--source", "stock.csv"], { cwd, env: { ...env, PLAZA_API_KEY: Redacted.value(apiKey) } })
        expect(refused.status).toBe(2)
        expect(refused.stderr).toContain(`belongs to account 1001 at ${env.PLAZA_BASE_URL}`)
        expect(yield* held("007")).toEqual({ "007": 1 })
      })
    ))

  it.live("a key without the scope ends the run with status 4 and says so; as JSON it is one object", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const { createKey } = yield* Sandbox.Sandbox
        const { apiKey } = yield* createKey("1001", { scopes: ["profile:read"] })
        const env = { ...yield* account, PLAZA_API_KEY: Redacted.value(apiKey) }
        yield* write(`${cwd}/stock.csv`, csv(wanted))
        const text = yield* run(["once", "--source", "stock.csv"], { cwd, env })
        expect(text.status).toBe(4)
        expect(text.stderr).toContain("8 products are not confirmed")
        const json = yield* run(["once", "--source", "stock.csv", "--json"], { cwd, env })
        expect(json.status).toBe(4)
        expect(parsed(json.stdout)).toMatchObject({ pending: 8, complete: false, stopped: { tag: "InsufficientScope" } })
        expect(parsed(json.stderr)).toMatchObject({ error: { tag: "InsufficientScope", code: "INSUFFICIENT_SCOPE", status: 403 } })
      })
    ))

  it.live("a quota that is used up ends the run with status 6 and the time to come back", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const { addFault } = yield* Sandbox.Sandbox
        yield* addFault({ kind: "status", when: "before", status: 429, retryAfter: "86400", method: "PATCH", times: 100 })
        yield* write(`${cwd}/stock.csv`, csv(wanted))
        const { status, stderr } = yield* run(["once", "--source", "stock.csv"], { cwd, env: yield* account })
        expect(status).toBe(6)
        expect(stderr).toMatch(/Run the command again in \d+ seconds, at \d{4}-\d\d-\d\dT/)
      })
    ))

  it.live("a service that fails ends the run with status 7, and the next run sends the rest", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const { addFault, clearFaults } = yield* Sandbox.Sandbox
        const env = { ...yield* account, ...lateWrites }
        yield* addFault({ kind: "status", when: "after", status: 503, method: "PATCH", times: 1000 })
        yield* write(`${cwd}/stock.csv`, csv(wanted))
        const { status, stderr } = yield* run(["once", "--source", "stock.csv"], { cwd, env })
        expect(status).toBe(7)
        expect(stderr).toContain("the service failed several times in a row")
        yield* clearFaults
        expect(yield* run(["once", "--source", "stock.csv"], { cwd, env })).toMatchObject({ status: 0 })
        expect(yield* held(...ids)).toEqual(wanted)
      })
    ))
})

describe("help and version", () => {
  it.live("name every command, option and variable, and load no database", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        yield* files.copy(dist, `${cwd}/moved`)
        // Without the native module beside it, whatever opens a database fails.
        yield* files.remove(`${cwd}/moved/node_modules`, { recursive: true })
        const program = `${cwd}/moved/plaza-stock-sync.mjs`
        const help = yield* run(["--help"], { cwd, program })
        for (const word of ["run", "once", "plan", "status", "retry", "confirm", "adopt", "history", "export"])
          expect(help.stdout).toContain(word)
        const once = yield* run(["once", "--help"], { cwd, program })
        for (
          const name of [
            "SOURCE",
            "LEDGER",
            "ID_COLUMN",
            "STOCK_COLUMN",
            "CONCURRENCY",
            "GONE",
            "GUARD_SHARE",
            "GUARD_COUNT",
            "GUARD_WINDOW",
            "LATE_WRITES"
          ]
        ) {
          expect(once.stdout).toContain(`STOCK_SYNC_${name}`)
          expect(once.stdout).toContain(`--${name.toLowerCase().replaceAll("_", "-")}`)
        }
        expect(once.stdout).toContain("plaza-stock-sync once --source stock.csv")
        const version = yield* run(["--version"], { cwd, program })
        expect(version).toMatchObject({ status: 0, stderr: "" })
        expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
      })
    ))
})
