/** What an interrupted write, and one whose result can't be printed, says about the change. */
import { describe, expect, it } from "@effect/vitest"
import * as Output from "@plaza/cli-kit/Output"
import * as Program from "@plaza/cli-kit/Program"
import * as Streams from "@plaza/cli-kit/Streams"
import { Chat, Plaza, Posts, Profiles, Store } from "@plaza/client"
import { ConversationId, OrderId } from "@plaza/domain/Ids"
import { Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import { TestClock } from "effect/testing"
import * as Http from "node:http"
import { createServer, type Server } from "node:net"
import * as Write from "../src/commands/Write.ts"
import { plaza } from "./support/InProcess.ts"

const refusal = (code: string, status: number, headers = {}) =>
  new Response(JSON.stringify({ error: { code, message: "no" } }), { status, headers })

/** Runs a command against a service with these responses, of which undefined never comes, and interrupts it after a while. */
const ended = <E>(
  command: Effect.Effect<unknown, E, Plaza.Services | Output.Output>,
  responses: ReadonlyArray<Response | undefined>,
  { json = false, isFull = false } = {}
) =>
  Effect.gen(function*() {
    const left = [...responses]
    const http = Layer.succeed(HttpClient.HttpClient, Write.observed(HttpClient.make((request) => {
      const next = left.shift()
      return next === undefined ? Effect.never : Effect.succeed(HttpClientResponse.fromWeb(request, next))
    })))
    const stderr: Array<string> = []
    const streams = Layer.effect(Streams.Streams, Effect.map(Streams.Streams, ({ stderr, stdout }) => ({
      stderr,
      stdout: isFull ? { ...stdout, write: () => Effect.fail(new Streams.OutputFailed({ message: "no space left" })) } : stdout
    }))).pipe(Layer.provide(Streams.layerTest({ stdout: [], stderr })))
    const client = Plaza.layer({ baseUrl: "https://host/open/v1", apiKey: Redacted.make(`key_${"x".repeat(40)}`) })
    const main = command.pipe(
      Effect.provide([Layer.provide(client, http), Output.layer({ json, quiet: false })]),
      (main) => Program.exitCodeOf(main, { name: "plaza", json, signal: () => "SIGINT" }),
      Effect.provide(streams)
    )
    let code: number | undefined
    const running = yield* main.pipe(
      Effect.tap((exitCode) => Effect.sync(() => (code = exitCode))),
      Effect.uninterruptible,
      Effect.forkChild
    )
    yield* TestClock.adjust("20 seconds")
    if (!isFull) yield* Fiber.interrupt(running)
    yield* Fiber.await(running)
    return { code, stderr: stderr.join("") }
  })

const send = Effect.flatMap(Chat, (chat) => Write.follow("sendMessage")(chat.send(ConversationId.make("conv_1"), "a")))
const create = Effect.flatMap(Posts, (posts) => Write.follow("createPost")(posts.create({ text: "a" })))
const ship = Effect.flatMap(Store,
  (store) => Write.follow("shipOrder")(store.ship(OrderId.make("1"), { carrier: "a", trackingNumber: "1" })))

const waits = refusal("RATE_LIMITED", 429, { "retry-after": "60" })
const unknown = "plaza: interrupted; the change may have been made\n"
const notDone = "plaza: interrupted; the change was not made\n"

describe("an interruption", () => {
  it.effect("of a write that was sent says that the change may have been made, and what to check", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* ended(send, [])
      expect(code).toBe(130)
      expect(stderr).toMatch(new RegExp(`^${unknown} {2}Check .+ before you run the command again\\.\n$`))
      const json = yield* ended(send, [], { json: true })
      expect(JSON.parse(json.stderr)).toEqual({
        error: {
          tag: "Interrupted",
          code: null,
          status: null,
          message: "interrupted",
          details: { operation: "sendMessage", outcome: "unknown", mayHaveHappened: true }
        }
      })
    }))

  it.effect("of a write that waits for the rate limit says that the change was not made", () =>
    Effect.gen(function*() {
      expect(yield* ended(send, [waits.clone()])).toEqual({ code: 130, stderr: notDone })
      const json = yield* ended(send, [waits.clone()], { json: true })
      expect(JSON.parse(json.stderr)).toMatchObject({ error: { details: { operation: "sendMessage", outcome: "notDone" } } })
      expect(json.stderr).not.toContain("mayHaveHappened")
    }))

  it.effect("says that the change may have been made if an earlier attempt may have made it", () =>
    Effect.gen(function*() {
      expect((yield* ended(ship, [refusal("INTERNAL_ERROR", 500), waits.clone()])).stderr).toContain(unknown)
      // Searches for the post.
      expect((yield* ended(create, [refusal("INTERNAL_ERROR", 500)])).stderr).toContain(unknown)
      expect((yield* ended(create, [waits.clone()])).stderr).toBe(notDone)
    }))

  /** Runs a command in this process, and interrupts it at this point. */
  const interruptedAt = (point: Effect.Effect<unknown>, argv: ReadonlyArray<string>, baseUrl: string) =>
    Effect.gen(function*() {
      let result: unknown
      const running = yield* plaza(argv, { PLAZA_BASE_URL: baseUrl, PLAZA_API_KEY: `key_${"x".repeat(40)}` }).pipe(
        Effect.tap((ended) => Effect.sync(() => (result = ended))),
        Effect.uninterruptible,
        Effect.forkChild
      )
      yield* point
      yield* Fiber.interrupt(running)
      return result
    })

  const portOf = (server: Server) =>
    Effect.acquireRelease(
      Effect.callback<number>((resume) => {
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          resume(Effect.succeed(typeof address === "object" ? address?.port ?? 0 : 0))
        })
      }),
      () => Effect.sync(() => server.close())
    )

  it.live("of a write that has no connection yet says that the change was not made", () =>
    Effect.gen(function*() {
      const connected = yield* Deferred.make<void>()
      // It never speaks TLS.
      const port = yield* portOf(createServer(() => Effect.runSync(Deferred.succeed(connected, undefined))))
      const argv = ["chat", "send", "conv_1", "--text", "a"]
      expect(yield* interruptedAt(Deferred.await(connected), argv, `https://127.0.0.1:${port}/open/v1`))
        .toEqual({ code: 130, stdout: "", stderr: notDone })
    }))

  it.live("of an upload that was sent says that the file may have been uploaded", () =>
    Effect.gen(function*() {
      const received = yield* Deferred.make<void>()
      const port = yield* portOf(Http.createServer((request) => {
        request.resume().on("end", () => Effect.runSync(Deferred.succeed(received, undefined)))
      }))
      const argv = ["media", "upload", "package.json"]
      expect(yield* interruptedAt(Deferred.await(received), argv, `http://127.0.0.1:${port}/open/v1`))
        .toEqual({ code: 130, stdout: "", stderr: "package.json may have been uploaded all the same.\n" })
    }))

  it.effect("of a read says nothing", () =>
    Effect.gen(function*() {
      const read = Effect.flatMap(Profiles, ({ me }) => me)
      expect(yield* ended(read, [])).toEqual({ code: 130, stderr: "" })
    }))
})

describe("a result that can't be printed", () => {
  const message = () => Response.json({ text: "a" })
  const printed = Effect.flatMap(send, (value) => Effect.flatMap(Output.Output, ({ one }) => one(value, [["text", value.text]])))

  it.effect("is reported with the change that was made", () =>
    Effect.gen(function*() {
      expect(yield* ended(printed, [message()], { isFull: true })).toEqual({
        code: 1,
        stderr: "plaza: no space left; the change was made\n  Don't run the command again to see its result.\n"
      })
      const { stderr } = yield* ended(printed, [message()], { isFull: true, json: true })
      expect(JSON.parse(stderr)).toMatchObject({
        error: { tag: "OutputFailed", message: "no space left", details: { operation: "sendMessage", outcome: "done" } }
      })
    }))

  it.effect("is reported with a change of this machine too", () =>
    Effect.gen(function*() {
      const login = Effect.flatMap(Output.Output, ({ done }) => done({}, "Logged in."))
      expect((yield* ended(login, [], { isFull: true })).stderr).toContain("no space left; the change was made\n")
    }))

  it.effect("of a read is reported alone", () =>
    Effect.gen(function*() {
      const read = Effect.flatMap(Output.Output, ({ text }) => text("a"))
      expect(yield* ended(read, [], { isFull: true })).toEqual({ code: 1, stderr: "plaza: no space left\n" })
    }))
})
