import { describe, expect, it } from "@effect/vitest"
import { type ClientError, Media, type Plaza, Posts, Profiles } from "@plaza/client"
import { PostId } from "@plaza/domain"
import { Effect, Exit, Fiber, Layer, Schedule, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { IncomingMessage } from "node:http"
import * as RawServer from "./support/RawServer.ts"
import { runtimes } from "./support/Runtimes.ts"

const me = Effect.flatMap(Profiles, ({ me }) => me)
const comment = Effect.flatMap(Posts, ({ comment }) => comment(PostId.make("1"), "hello"))
const calls: ReadonlyArray<Effect.Effect<unknown, ClientError.Failure, Plaza.Services>> = [me, comment]

/** An endless stream of bytes that reports whether it is still open. */
const endless = () => {
  const held = { count: 0 }
  const content = Stream.unwrap(Effect.acquireRelease(
    Effect.sync(() => {
      held.count++
      return Stream.forever(Stream.succeed(new Uint8Array(16 * 1024)))
    }),
    () => Effect.sync(() => held.count--)
  ))
  return { held, content }
}

const silent: RawServer.Handler = () => {}
const halfway: RawServer.Handler = (_, response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "100" }).write("{\"id\":")
}
const refusingHalfway: RawServer.Handler = (_, response) => {
  response.writeHead(403, { "content-type": "application/json", "content-length": "100" }).write("{\"error\":")
}
const swallowing: RawServer.Handler = (request) => {
  request.resume()
}

for (const [client, http] of runtimes) {
  describe(`nothing is left open at the service, by ${client}`, () => {
    const layer = (server: RawServer.RawServer, options: Partial<Plaza.Options> = {}) =>
      RawServer.layerPlaza(server.baseUrl, http, { retry: Schedule.recurs(0), ...options })

    const asked = (server: RawServer.RawServer) => RawServer.until("the request is there", () => server.busy() === 1)
    // After an aborted request, the fetch of Node opens a connection for the next one, and closes it after some idle seconds.
    const nothingOpen = (server: RawServer.RawServer) =>
      RawServer.until("no connection is open", () => server.busy() === 0 && (client === "fetch" || server.sockets() === 0))

    /** Time passes only once the request is there: the fetch of Node may keep a connection that is aborted while it is made. */
    const runsOutOfTime = <E, R>(server: RawServer.RawServer, call: Effect.Effect<unknown, E, R>) =>
      Effect.gen(function*() {
        const fiber = yield* Effect.forkChild(Effect.flip(call))
        yield* TestClock.withLive(asked(server))
        while (fiber.pollUnsafe() === undefined) {
          // Whatever is on its way between this process and itself arrives meanwhile.
          yield* TestClock.withLive(Effect.sleep("20 millis"))
          yield* TestClock.adjust("100 millis")
        }
        return yield* Fiber.join(fiber)
      })

    const answers = { "before the answer": silent, "amid the answer": halfway, "amid a refusal": refusingHalfway }
    for (const [moment, handler] of Object.entries(answers)) {
      it.live(`when a call is interrupted ${moment}`, () =>
        Effect.gen(function*() {
          const server = yield* RawServer.make(handler)
          yield* Effect.gen(function*() {
            for (const call of calls) {
              const fiber = yield* Effect.forkChild(call)
              yield* asked(server)
              yield* Effect.sleep("20 millis")
              yield* Fiber.interrupt(fiber)
              expect(fiber.pollUnsafe()).toSatisfy(Exit.hasInterrupts)
              yield* nothingOpen(server)
            }
          }).pipe(Effect.provide(layer(server)))
          expect(server.seen).toHaveLength(2)
        }))

      it.effect(`when an attempt runs out of time ${moment}`, () =>
        Effect.gen(function*() {
          const server = yield* RawServer.make(handler)
          yield* Effect.gen(function*() {
            const failure = yield* runsOutOfTime(server, me)
            // A refusal is one from its head on, whatever becomes of its body.
            expect(failure._tag).toBe(moment === "amid a refusal" ? "UnrecognizedError" : "AttemptTimeout")
            yield* TestClock.withLive(nothingOpen(server))
          }).pipe(Effect.provide(layer(server, { timeout: "1 second" })))
          expect(server.seen).toHaveLength(1)
        }))

      it.live(`when the scope of a call closes ${moment}`, () =>
        Effect.gen(function*() {
          const server = yield* RawServer.make(handler)
          const scope = yield* Scope.make()
          const context = yield* Layer.buildWithScope(layer(server), scope)
          yield* Effect.forkIn(Effect.provide(me, context), scope)
          yield* asked(server)
          yield* Scope.close(scope, Exit.void)
          yield* nothingOpen(server)
        }))
    }

    it.live("when the layer's scope closes without a request in flight", () =>
      Effect.gen(function*() {
        const server = yield* RawServer.make((_, response) => RawServer.answerJson(response, { id: "1" }))
        yield* Effect.provide(me, layer(server))
        yield* nothingOpen(server)
      }))

    it.live("when the program stops reading a list while its next page is in flight", () =>
      Effect.gen(function*() {
        const server = yield* RawServer.make((request, response) => {
          if (request.url?.includes("cursor") !== true) {
            RawServer.answerJson(response, {
              data: [{ id: "1", createdAt: "2026-01-01T00:00:00.000Z" }],
              next_cursor: "next"
            }, 200, { connection: "close" })
          }
        })
        yield* Effect.gen(function*() {
          const { list } = yield* Posts
          const first = yield* list().pipe(
            Stream.tap(() => RawServer.until("the next page is asked for", () => server.seen.length === 2)),
            Stream.take(1),
            Stream.runCollect
          )
          expect(first.length).toBe(1)
          yield* nothingOpen(server)
        }).pipe(Effect.provide(layer(server)))
        expect(server.seen).toHaveLength(2)
      }))

    it.live("when an upload is interrupted, and its source is closed", () =>
      Effect.gen(function*() {
        const server = yield* RawServer.make(swallowing)
        const { content, held } = endless()
        yield* Effect.gen(function*() {
          const { upload } = yield* Media
          const fiber = yield* Effect.forkChild(upload({ fileName: "a.bin", content }))
          yield* asked(server)
          expect(held.count).toBe(1)
          yield* Fiber.interrupt(fiber)
          yield* nothingOpen(server)
          yield* RawServer.until("the source is closed", () => held.count === 0)
        }).pipe(Effect.provide(layer(server)))
      }))

    it.live("when the source of an upload fails, which ends the upload at once", () =>
      Effect.gen(function*() {
        const server = yield* RawServer.make(swallowing)
        const pieces = Stream.take(Stream.forever(Stream.succeed(new Uint8Array(16 * 1024))), 50)
        yield* Effect.gen(function*() {
          const { upload } = yield* Media
          for (const size of [undefined, 10_000_000]) {
            const content = Stream.concat(pieces, Stream.fail("disk gone" as const))
            expect(yield* Effect.flip(upload({ fileName: "a.bin", content, size }))).toBe("disk gone")
            yield* nothingOpen(server)
          }
        }).pipe(Effect.provide(layer(server, { retry: Schedule.recurs(3) })))
        // Once each: a source that fails isn't asked again.
        expect(server.seen).toHaveLength(2)
      }))

    it.effect("when an upload stalls because the service doesn't read it", () =>
      Effect.gen(function*() {
        const paused: Array<IncomingMessage> = []
        const server = yield* RawServer.make((request) => {
          paused.push(request.pause())
        })
        const { content, held } = endless()
        yield* Effect.gen(function*() {
          const { upload } = yield* Media
          const failure = yield* runsOutOfTime(server, upload({ fileName: "a.bin", content }))
          expect(failure._tag).toBe("AttemptTimeout")
          yield* TestClock.withLive(RawServer.until("the source is closed", () => held.count === 0))
          // Who doesn't read doesn't see that the other side is gone.
          paused.forEach((request) => request.resume())
          yield* TestClock.withLive(nothingOpen(server))
        }).pipe(Effect.provide(layer(server, { timeout: "1 second" })))
      }))
  })
}
