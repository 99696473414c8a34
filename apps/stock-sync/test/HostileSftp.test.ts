/** SFTP servers that hang, are cut off, change their files or ask for a password. */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Option, Redacted, type Scope } from "effect"
import * as Open from "../src/source/Open.ts"
import * as Server from "./support/hostileSftp.ts"
import { all, containing, good } from "./support/reading.ts"

const csv = "productId,stock\nA,1\n"
const many = `productId,stock\n${"SKU-WITH-A-LONG-NAME,1\n".repeat(100_000)}`
const fileOf = (text: string, mtime = 1_000): Server.File => ({ content: Buffer.from(text), mtime })
const password = Redacted.make("letmein")

type Running = Effect.Success<ReturnType<typeof Server.scoped>>

const sourceAt = ({ fingerprint, port }: Running, more: Partial<Open.SourceOptions> = {}) =>
  Open.make({
    idColumn: "productId",
    stockColumn: "stock",
    source: `sftp://shop@127.0.0.1:${port}/out/stock.csv`,
    timeout: Duration.seconds(30),
    settle: Duration.zero,
    unfinishedWait: Duration.zero,
    sftp: { hostKeys: [fingerprint], keyFile: undefined, knownHosts: undefined },
    remoteSecrets: { sftp: { password }, credentials: undefined },
    ...more
  })
const readAt = (...given: Parameters<typeof sourceAt>) =>
  Effect.scoped(Effect.gen(function*() {
    const source = yield* sourceAt(...given)
    return yield* all(Option.getOrThrow(yield* source.open(Option.none())).rows)
  }))
const refusal = (...given: Parameters<typeof sourceAt>) => Effect.flip(readAt(...given))

const inTest = <A, E>(test: Effect.Effect<A, E, Effect.Services<ReturnType<typeof readAt>> | Scope.Scope>) =>
  test.pipe(Effect.scoped, Effect.provide(NodeServices.layer))

const silent = { _tag: "SourceUnreachable", message: containing("no response for 100ms; no row of it was used") }

describe("an SFTP server", () => {
  it.live("that asks for the password itself or as a question is read, and the connection ends with the read", () =>
    inTest(Effect.gen(function*() {
      for (const method of ["password", "keyboard-interactive"]) {
        const server = yield* Server.scoped({
          file: () => fileOf(csv),
          authenticate: (context) => {
            if (context.method !== method) return context.reject([method === "password" ? "password" : "keyboard-interactive"])
            if (context.method === "password") return context.password === "letmein" ? context.accept() : context.reject()
            if (context.method === "keyboard-interactive") {
              context.prompt([{ prompt: "Password: ", echo: false }], (answers) =>
                answers[0] === "letmein" ? context.accept() : context.reject())
            }
          }
        })
        expect(yield* readAt(server)).toEqual([good(2, "A", 1)])
        yield* server.disconnected
        const wrong = yield* refusal(server, { remoteSecrets: { sftp: { password: Redacted.make("hidden") }, credentials: undefined } })
        expect(wrong).toMatchObject({
          _tag: "SourceError",
          message: containing("the server refuses the user shop: check the user, and STOCK_SYNC_SOURCE_PASSWORD")
        })
        expect(JSON.stringify(wrong)).not.toContain("hidden")
      }
    })))

  it.live("with another key than is known receives no password", () =>
    inTest(Effect.gen(function*() {
      const server = yield* Server.scoped({ file: () => fileOf(csv) })
      const other = yield* Server.scoped()
      expect(yield* refusal({ ...server, fingerprint: other.fingerprint })).toMatchObject({
        _tag: "SourceError",
        message: containing(server.fingerprint)
      })
      expect(server.attempts).toEqual([])
      yield* server.disconnected
    })))

  it.live("that says nothing after the connection is given up after the time for that", () =>
    inTest(Effect.gen(function*() {
      const server = yield* Server.scoped({ onConnection: () => false })
      expect(yield* refusal(server, { timeout: Duration.millis(100) })).toMatchObject(silent)
      yield* server.disconnected
    })))

  it.live("that hangs does not delay a stop", () =>
    inTest(Effect.gen(function*() {
      const connected = yield* Deferred.make<void>()
      const hanging = yield* Server.scoped({
        onConnection: () => {
          Deferred.doneUnsafe(connected, Effect.void)
          return false
        }
      })
      const connecting = yield* Effect.forkChild(readAt(hanging))
      yield* Deferred.await(connected)
      yield* Fiber.interrupt(connecting)
      yield* hanging.disconnected

      const read = yield* Deferred.make<void>()
      const stopping = yield* Server.scoped({
        file: () => fileOf(many),
        onRead: (position) => {
          if (position > 0) Deferred.doneUnsafe(read, Effect.void)
          return position === 0
        }
      })
      const reading = yield* Effect.forkChild(readAt(stopping))
      yield* Deferred.await(read)
      yield* Fiber.interrupt(reading)
      yield* stopping.disconnected
    })))

  it.live("that hangs in the middle of a file is given up after the time for that", () =>
    inTest(Effect.gen(function*() {
      const server = yield* Server.scoped({ file: () => fileOf(many), onRead: (position) => position < 100_000 })
      expect(yield* refusal(server, { timeout: Duration.millis(100) })).toMatchObject(silent)
    })))

  it.live("whose connection is cut in the middle of a file has given no row", () =>
    inTest(Effect.gen(function*() {
      const server = yield* Server.scoped({
        file: () => fileOf(many),
        onRead: (position, client) => {
          if (position > 100_000) client.end()
          return position <= 100_000
        }
      })
      expect(yield* refusal(server)).toMatchObject({
        _tag: "SourceUnreachable",
        message: containing("the connection was lost; no row of it was used")
      })
    })))

  it.live("whose file grows or shrinks while it is read has given no row", () =>
    inTest(Effect.gen(function*() {
      // Asked for when it is found, when it is opened, and when it was read.
      const growing = yield* Server.scoped({ file: (_, times) => fileOf(times < 3 ? csv : `${csv}B,2\n`) })
      const changed = { _tag: "SourceUnreachable", message: containing("was changed while it was read; no row of it was used") }
      expect(yield* refusal(growing)).toMatchObject(changed)
      const replaced = yield* Server.scoped({ file: (_, times) => fileOf(csv, times) })
      expect(yield* refusal(replaced)).toMatchObject(changed)
      const shrinking = yield* Server.scoped({ file: () => fileOf(many), readable: 100_000 })
      expect(yield* refusal(shrinking)).toMatchObject(changed)
    })))

  it.live("that shows no rights of a file is read, and one that shows no time of it is not", () =>
    inTest(Effect.gen(function*() {
      const file = () => fileOf(csv)
      expect(yield* readAt(yield* Server.scoped({ file, hidden: ["mode", "uid", "gid"] }))).toEqual([good(2, "A", 1)])
      expect(yield* refusal(yield* Server.scoped({ file, hidden: ["atime", "mtime"] }))).toMatchObject({
        _tag: "SourceError",
        message: containing("the server does not show its size and time")
      })
    })))

  it.live("with ten thousand files in a folder shows the newest", () =>
    inTest(Effect.gen(function*() {
      const server = yield* Server.scoped({
        file: (path) => path === "/out/stock-99-99.csv" ? fileOf(csv) : undefined,
        list: (batch) => batch < 100 ? Array.from({ length: 100 }, (_, index) => `stock-${batch}-${index}.csv`) : []
      })
      expect(yield* readAt(server, { source: `sftp://shop@127.0.0.1:${server.port}/out/stock-*.csv` })).toEqual([good(2, "A", 1)])
    })))

  it.live("that lists files without an end is refused", () =>
    inTest(Effect.gen(function*() {
      const server = yield* Server.scoped({ list: () => Array.from({ length: 500 }, (_, index) => `stock-${index}.csv`) })
      expect(yield* refusal(server, { source: `sftp://shop@127.0.0.1:${server.port}/out/stock-*.csv` })).toMatchObject({
        _tag: "SourceError",
        message: containing("its folder has more than 100,000 files: move old ones away")
      })
    })))

  it.live("that is not there, offers no files or is no SSH server is named with the reason", () =>
    inTest(Effect.gen(function*() {
      const gone = yield* Effect.scoped(Server.scoped())
      expect(yield* refusal(gone)).toMatchObject({ _tag: "SourceUnreachable", message: containing("the connection failed (ECONNREFUSED)") })
      const shell = yield* Server.scoped({ hasSftp: false })
      expect(yield* refusal(shell)).toMatchObject({ _tag: "SourceError", message: containing("the server offers no SFTP to this user") })
      const web = yield* Server.scoped({ onConnection: (socket) => !socket.write("HTTP/1.1 400 Bad Request\r\n\r\n".repeat(3_000)) })
      expect(yield* refusal(web, { timeout: Duration.seconds(5) })).toMatchObject({ _tag: "SourceUnreachable" })
    })))
})
