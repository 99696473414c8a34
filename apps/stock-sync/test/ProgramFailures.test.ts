/** What the program refuses, and how it ends if the service does: messages and exit codes. */
import { describe, expect, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Effect, FileSystem, Redacted } from "effect"
import * as Command from "./support/command.ts"
import { account, parsed, run } from "./support/program.ts"
import { arrived, held } from "./support/sandbox.ts"
import { csv, ids, inFolder, lateWrites, wanted, write } from "./support/shop.ts"

// Most of the time is spent waiting for retries.
describe.concurrent("wrong input", () => {
  interface Wrong {
    readonly name: string
    readonly args?: ReadonlyArray<string>
    readonly env?: Readonly<Record<string, string | undefined>>
    readonly file?: string
    readonly status: number
    readonly says: ReadonlyArray<string>
  }
  // These retry for half a minute, so they run at the same time, as the built program. The others run in this process, one by one.
  const mayWait = (status: number) => status === 7
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
    {
      name: "a file without one of several columns",
      args: ["once", "--source", "stock.csv", "--stock-column", "stock,-reserved"],
      file: "productId,stock\nA,1\n",
      status: 2,
      says: ["there is no column \"reserved\"", "--stock-column"]
    },
    {
      name: "numbers that contradict each other",
      file: "productId,stock\nA,5.500\nB,2.5\nC,1\nD,1\nE,1\nF,1\n",
      status: 2,
      says: ["line 2: stock \"5.500\"", "line 3: stock \"2.5\"", "--decimal", "--thousands"]
    },
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
    {
      name: "a charset that is none",
      args: ["once", "--source", "stock.csv", "--charset", "ibm850"],
      status: 2,
      says: ["ibm850", "STOCK_SYNC_CHARSET", "windows-1252"]
    },
    { name: "a next page that is none", env: { STOCK_SYNC_NEXT: "=after" }, status: 2, says: ["=after", "--next"] },
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
      name: "a GraphQL query that isn't there",
      args: ["once", "--source", "http://127.0.0.1:1/graphql", "--graphql", "none.graphql"],
      status: 2,
      says: ["none.graphql: there is no such file. Name another file with --graphql or STOCK_SYNC_GRAPHQL"]
    },
    {
      name: "a GraphQL query in a folder",
      args: ["once", "--source", "http://127.0.0.1:1/graphql", "--graphql", "."],
      status: 2,
      says: ["it is a folder, not a file. Name another file with --graphql"]
    },
    {
      name: "a GraphQL query that is none",
      args: ["once", "--source", "http://127.0.0.1:1/graphql", "--graphql", "stock.csv"],
      status: 2,
      says: ["stock.csv: it is no GraphQL query"]
    },
    {
      name: "a GraphQL query for a file",
      env: { STOCK_SYNC_GRAPHQL: "stock.graphql" },
      status: 2,
      says: ["--graphql (STOCK_SYNC_GRAPHQL) needs an http: or https: address: correct --source or STOCK_SYNC_SOURCE"]
    },
    {
      name: "a GraphQL query and a field of the next page",
      args: ["once", "--source", "http://127.0.0.1:1/graphql", "--graphql", "stock.graphql", "--next", "next"],
      status: 2,
      says: ["--next (STOCK_SYNC_NEXT) has no effect on a query, whose pages are followed by its cursor: remove it, or --graphql"]
    },
    {
      name: "a GraphQL query and a query of a database",
      args: ["once", "--source", "http://127.0.0.1:1/graphql", "--graphql", "stock.graphql", "--query", "SELECT 1"],
      status: 2,
      says: ["--query (STOCK_SYNC_QUERY) is the query of a database: remove it, or --graphql"]
    },
    {
      name: "a GraphQL query and another format",
      args: ["once", "--source", "http://127.0.0.1:1/graphql", "--graphql", "stock.graphql", "--format", "csv"],
      status: 2,
      says: ["--format csv (STOCK_SYNC_FORMAT) is not the format of a response to a query: remove it, or --graphql"]
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
          const checked = ({ args = ["once", "--source", "stock.csv"], env = {}, file = good, name, says, status }: Wrong) =>
            Effect.gen(function*() {
              const own = yield* files.makeTempDirectory({ directory: cwd })
              yield* write(`${own}/stock.csv`, file)
              const told = Object.entries({ ...right, ...env }).flatMap((
                [variable, value]
              ) => (value === undefined ? [] : [[variable, value] as const]))
              const variables = Object.fromEntries(told)
              const { status: ended, stderr, stdout } = yield* mayWait(status)
                ? run(args, { cwd: own, env: variables })
                : Command.runIn(own, args, variables)
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
            })
          const atOnce = cases.filter(({ status }) => !mayWait(status))
          const waiting = cases.filter(({ status }) => mayWait(status))
          yield* Effect.all([Effect.forEach(atOnce, checked), Effect.forEach(waiting, checked, { concurrency: "unbounded" })], {
            concurrency: 2,
            discard: true
          })
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
        yield* addFault({ kind: "status", when: "before", status: 429, retryAfter: "80000", method: "PATCH", times: 100 })
        yield* write(`${cwd}/stock.csv`, csv(wanted))
        const { status, stderr } = yield* run(["once", "--source", "stock.csv"], { cwd, env: yield* account })
        expect(status).toBe(6)
        expect(stderr).toMatch(/Run the command again in \d+ hours, at \d{4}-\d\d-\d\dT/)
        // Most products of the source have vanished: the hold would otherwise be met only after the quota.
        yield* write(`${cwd}/stock.csv`, csv({ "007": 12 }))
        const again = yield* run(["once", "--source", "stock.csv", "--guard-count", "2"], { cwd, env: yield* account })
        expect(again.status).toBe(6)
        expect(again.stderr).toContain("Besides, the source is held as snapshot 2")
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
