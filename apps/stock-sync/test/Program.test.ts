/** The built program over a real socket and real files, judged by what the sandbox holds, its output and its exit status. */
import { describe, expect, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Deferred, Effect, FileSystem, Redacted } from "effect"
import { cpSync } from "node:fs"
import { createServer, type RequestListener } from "node:http"
import { DatabaseSync } from "node:sqlite"
import * as Command from "./support/command.ts"
import * as SftpServer from "./support/hostileSftp.ts"
import { account, dist, parsed, run, start } from "./support/program.ts"
import * as S3 from "./support/s3.ts"
import { arrived, held } from "./support/sandbox.ts"
import { csv, ids, inFolder, lateWrites, wanted, write } from "./support/shop.ts"

/** A server of a test's own, for as long as the test lasts. */
const listening = (answer: RequestListener) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
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

describe.concurrent("once", () => {
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

  it.live("ends with status 0 although rules exclude products that wait or that the service refuses", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const env = yield* account
        yield* write(`${cwd}/stock.csv`, "productId,stock\n007,5\nNO SUCH,1\n")
        const args = ["once", "--source", "stock.csv"]
        expect((yield* run(args, { cwd, env })).status).toBe(1)
        const { addFault } = yield* Sandbox.Sandbox
        yield* addFault({ kind: "status", when: "before", status: 429, retryAfter: "1000", method: "PATCH", times: 1 })
        yield* write(`${cwd}/stock.csv`, "productId,stock\n007,6\nNO SUCH,1\n")
        expect((yield* run(args, { cwd, env })).status).toBe(6)
        yield* write(`${cwd}/rules.csv`, "id,exclude\n007,yes\nNO SUCH,yes\n")
        yield* write(`${cwd}/stock.csv`, "productId,stock\n0043,1\n")
        const excluded = yield* run([...args, "--rules", "rules.csv"], { cwd, env })
        expect(excluded).toMatchObject({ status: 0, stderr: "" })
        expect(excluded.stdout).toContain("\nquarantined\t0\ndoubtful\t0\npending\t0\n")
        expect(yield* held("007", "0043")).toEqual({ "007": 5, "0043": 1 })
        expect((yield* run(["status", "007"], { cwd, env })).stdout).toContain("a rule excludes it")
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

  it.live("subtracts the buffer from the sum of a product's rows once, and sends no more than the maximum, as plan shows", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const env = { ...yield* account, STOCK_SYNC_DUPLICATES: "sum", STOCK_SYNC_SOURCE: "stock.csv", STOCK_SYNC_RULES: "rules.csv" }
        const locations = (id: string) => [3, 3, 3].map((stock) => `${id},${stock}\n`).join("")
        yield* write(`${cwd}/stock.csv`, `productId,stock\n${["007", "SKU", "MUG-BLUE-250"].map(locations).join("")}`)
        yield* write(`${cwd}/rules.csv`, "id,productId,buffer,max\nSKU,Ä-7,,20\nMUG-BLUE-250,,4,\n")
        const args = ["--max", "3", "--buffer", "2"]
        const plan = yield* run(["plan", ...args, "--json"], { cwd, env })
        expect(plan.status).toBe(0)
        expect(JSON.parse(plan.stdout)).toMatchObject({ send: 3, rejectedRows: 0 })
        expect(plan.stdout.match(/"to":\d+/g)?.toSorted((one, other) => one.localeCompare(other))).toEqual([
          "\"to\":3",
          "\"to\":3",
          "\"to\":7"
        ])
        expect(yield* run(["once", ...args], { cwd, env })).toMatchObject({ status: 0 })
        expect(yield* held("007", "Ä-7", "MUG-BLUE-250")).toEqual({ "007": 3, "Ä-7": 7, "MUG-BLUE-250": 3 })
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
        const database = new DatabaseSync(`${cwd}/e.db`)
        database.exec("CREATE TABLE product (productId TEXT, stock INTEGER); INSERT INTO product VALUES ('007', 5)")
        database.close()
        const port = yield* listening((_, response) => response.setHeader("content-type", "application/json").end(json(6)))
        const sftp = yield* SftpServer.scoped({
          file: () => ({ content: Buffer.from("productId,stock\n007,7\n"), mtime: 1_000 }),
          authenticate: (context) =>
            context.method === "password" && context.password === "told-to-nobody" ? context.accept() : context.reject(["password"])
        })
        yield* write(`${cwd}/password`, "told-to-nobody\n")
        const s3 = yield* S3.scoped
        yield* s3.put("out/stock-1.csv", "productId,stock\n007,8\n")
        const sources: ReadonlyArray<Readonly<Record<string, string>>> = [
          { SOURCE: "a.json" },
          { SOURCE: "b.txt", FORMAT: "json", ITEMS: "result.rows" },
          { SOURCE: "c.jsonl", ID_COLUMN: "sku", STOCK_COLUMN: "qty" },
          { SOURCE: "d.csv", DELIMITER: "|" },
          { SOURCE: "sqlite:e.db", QUERY: "SELECT productId, stock FROM product" },
          { SOURCE: `http://127.0.0.1:${port}/`, SOURCE_AUTHORIZATION: "Bearer told-to-nobody" },
          { SOURCE: `sftp://shop@127.0.0.1:${sftp.port}/stock.csv`, SOURCE_PASSWORD_FILE: "password", HOST_KEY: sftp.fingerprint },
          { SOURCE: "s3://shop/out/stock-*.csv", S3_ENDPOINT: s3.endpoint }
        ]
        const keys = { AWS_ACCESS_KEY_ID: S3.accessKeyId, AWS_SECRET_ACCESS_KEY: S3.secretAccessKey }
        for (const [index, told] of sources.entries()) {
          const variables = Object.fromEntries(Object.entries(told).map(([name, value]) => [`STOCK_SYNC_${name}`, value]))
          const ended = yield* run(["once"], { cwd, env: { ...env, ...keys, ...variables } })
          expect({ told, ended }).toMatchObject({ ended: { status: 0, stderr: "" } })
          expect(ended.stdout).not.toContain("told-to-nobody")
          expect(yield* held("007")).toEqual({ "007": index + 1 })
        }
      })
    ))

  it.live("stops at once while it waits for a server of files that hangs", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const connected = yield* Deferred.make<void>()
        const { fingerprint, port } = yield* SftpServer.scoped({
          onConnection: () => {
            Deferred.doneUnsafe(connected, Effect.void)
            return false
          }
        })
        const { ended, kill, stderr } = yield* start(["run", "--source", `sftp://shop@127.0.0.1:${port}/stock.csv`], {
          cwd,
          env: { ...yield* account, STOCK_SYNC_SOURCE_PASSWORD: "told-to-nobody", STOCK_SYNC_HOST_KEY: fingerprint }
        })
        yield* Deferred.await(connected)
        yield* kill("SIGTERM")
        expect(yield* ended).toMatchObject({ status: 0 })
        expect(stderr()).not.toContain("told-to-nobody")
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
        cpSync(dist, `${cwd}/moved`, { recursive: true })
        yield* write(`${cwd}/stock.csv`, csv(wanted))
        const program = `${cwd}/moved/plaza-stock-sync.cjs`
        expect(yield* run(["once", "--source", "stock.csv"], { cwd, env: yield* account, program })).toMatchObject({ status: 0 })
        expect(yield* run(["status"], { cwd, program })).toMatchObject({ status: 0 })
        expect(yield* held(...ids)).toEqual(wanted)
      })
    ))
})

describe.concurrent("plan and status", () => {
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
          ruleIssues: 0,
          quarantined: 0,
          uncertain: 0,
          missing: 0,
          missingKept: false,
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

describe.concurrent("held snapshots and the quarantine", () => {
  it.live("plan says what it waits for, except with --json and --quiet", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        const source = `${cwd}/stock.csv`
        yield* write(source, csv(wanted).trimEnd())
        // A time in the future is not trusted: the wait starts when the program first reads the file.
        yield* files.utimes(source, Date.UTC(2100, 0) / 1000, Date.UTC(2100, 0) / 1000)
        const plan = (...args: ReadonlyArray<string>) =>
          Command.run([
            "plan",
            "--source",
            source,
            "--ledger",
            `${cwd}/none.sqlite`,
            "--settle",
            "0s",
            "--unfinished-wait",
            "100ms",
            ...args
          ], {})
        const text = yield* plan()
        expect(text.status).toBe(0)
        expect(text.stderr).toMatch(
          /^waiting for the source: \S+stock\.csv: its last line has no line end.+ It is read as it is after .+\n$/
        )
        expect(yield* plan("--json")).toMatchObject({ status: 0, stderr: "" })
        expect(yield* plan("--quiet")).toMatchObject({ status: 0, stderr: "" })
      })
    ))

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
        expect(refused.stderr).toContain("held as snapshot 2, because it is implausible: of 8 products, 6 sell out")
        const shown = yield* run(["status", "--json"], { cwd })
        expect(parsed(shown.stdout)).toMatchObject({
          held: { snapshot: 2, soldOut: 6, catalogue: 8, confirmed: false },
          counts: { settled: 8 }
        })
        expect((yield* run(["status"], { cwd })).stdout).toContain("snapshot 2, since ")
        expect(yield* arrived).toHaveLength(8)
        expect(yield* run(["confirm", "1"], { cwd, env })).toMatchObject({ status: 1 })
        expect(yield* run(["confirm", "2"], { cwd, env })).toMatchObject({ status: 0 })
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
          stderr: "plaza-stock-sync: \"007\" is neither quarantined nor uncertain; `status` lists those that are\n"
        })
        expect(yield* run(["once", "--source", "stock.csv"], { cwd, env })).toMatchObject({ status: 0 })
        expect(yield* held("NEW")).toEqual({ NEW: 3 })
        expect(parsed((yield* run(["retry", "--json"], { cwd })).stdout)).toEqual({ released: [] })
      })
    ))
})

describe.concurrent("crashes", () => {
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
          // One of the three is reserved for products that sell out.
          const running = yield* start(["once", "--source", "stock.csv", "--concurrency", "3"], { cwd, env })
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

  it.live("adopt binds the ledger to another address or key of its account, and says so if nothing changes", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const { createKey } = yield* Sandbox.Sandbox
        const env = yield* account
        yield* write(`${cwd}/stock.csv`, csv(wanted))
        expect(yield* run(["once", "--source", "stock.csv"], { cwd, env })).toMatchObject({ status: 0 })
        const here = env.PLAZA_BASE_URL
        const there = here.replace("127.0.0.1", "localhost")
        expect(yield* run(["adopt"], { cwd, env })).toMatchObject({
          status: 0,
          stdout: `the ledger plaza-stock-sync.sqlite belongs to 1001 at ${here} already.\n`
        })
        const { apiKey } = yield* createKey("1001")
        expect(yield* run(["adopt"], { cwd, env: { ...env, PLAZA_API_KEY: Redacted.value(apiKey) } })).toMatchObject({
          status: 0,
          stdout: `the ledger plaza-stock-sync.sqlite belongs to 1001 at ${here} with the new key.\n`
        })
        expect(yield* run(["adopt"], { cwd, env: { ...env, PLAZA_BASE_URL: there } })).toMatchObject({
          status: 0,
          stdout: `the ledger plaza-stock-sync.sqlite belonged to 1001 at ${here}, and now belongs to 1001 at ${there}.\n`
        })
      })
    ))

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

describe("help and version", () => {
  it.live("name every command, option and variable, and load no database", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        yield* files.copy(dist, `${cwd}/moved`)
        // Without the modules that open a database, whatever opens one fails.
        const chunks = (yield* files.readDirectory(`${cwd}/moved/chunks`)).map((file) => `${cwd}/moved/chunks/${file}`)
        const ofDatabases = yield* Effect.filter(chunks,
          (file) => Effect.map(files.readFileString(file), (code) => code.includes("node:sqlite")))
        expect(ofDatabases.length).toBeGreaterThan(0)
        for (const file of ofDatabases) yield* files.remove(file)
        const program = `${cwd}/moved/plaza-stock-sync.cjs`
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
