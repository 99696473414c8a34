/** The key appears in no output of the client, whatever the service or a proxy sends. */
import { expect, it } from "@effect/vitest"
import { Chat, type ClientError, Media, Plaza, Posts, Profiles, Store, TestTime } from "@plaza/client"
import { ConversationId, OrderId, PostId, ProductId, ProfileId } from "@plaza/domain"
import { Sandbox } from "@plaza/sandbox"
import * as KeyEchoes from "@plaza/testing/KeyEchoes"
import { Cause, ConfigProvider, Effect, Exit, Layer, Logger, Redacted, References, Schedule, Schema, Stream } from "effect"
import { createServer } from "node:net"
import { inspect } from "node:util"
import * as Fake from "./support/FakeService.ts"
import * as OnSandbox from "./support/OnSandbox.ts"
import { runtimes } from "./support/Runtimes.ts"
import * as Traced from "./support/Traced.ts"

/** Every form in which a value may reach a log, a report or a terminal. */
const written = (value: unknown): string => {
  const error = value instanceof Error ? [value.message, value.stack, JSON.stringify(Object.entries(value))] : []
  return [
    String(value),
    inspect(value, { depth: 12, showHidden: true }),
    JSON.stringify(value, (_, inner: unknown) => typeof inner === "bigint" ? String(inner) : inner),
    ...error
  ].join("\n")
}

const cause = (cause: Cause.Cause<unknown>): string =>
  [Cause.pretty(cause), written(cause), written(Cause.squash(cause)), ...Cause.prettyErrors(cause).map(written)].join("\n")

/** Runs a program and returns its output: logs at every level in every format, spans, observed attempts and its exit. */
const everything = <A, E, R>(program: Effect.Effect<A, E, R>): Effect.Effect<string, never, R> =>
  Effect.gen(function*() {
    const out: Array<string> = []
    const into = (format: Logger.Logger<unknown, unknown>) => Logger.map(format, (line) => out.push(written(line)))
    const logger = Logger.make(({ cause: logged, message }) => out.push(written(message), cause(logged)))
    const observed = Plaza.onAttempt((attempt) => Effect.sync(() => out.push(written(attempt), written(attempt.failure))))(program)
    const { exit, spans } = yield* Traced.run(observed).pipe(
      Effect.provide(Logger.layer([logger, Logger.tracerLogger, into(Logger.formatLogFmt), into(Logger.formatJson)])),
      Effect.provideService(References.MinimumLogLevel, "All")
    )
    out.push(written(exit))
    if (Exit.isFailure(exit)) {
      out.push(cause(exit.cause))
    }
    for (const span of spans) {
      out.push(span.name, written([...span.attributes]), written(span.status), written(span.links))
      if ("events" in span) {
        out.push(written(span.events))
      }
    }
    expect(spans.length).toBeGreaterThan(0)
    return out.join("\n")
  })

const calls: ReadonlyArray<Effect.Effect<unknown, ClientError.Failure, Plaza.Services>> = [
  Effect.flatMap(Profiles, ({ me }) => me),
  Effect.flatMap(Profiles, ({ follow }) => follow(ProfileId.make("1"))),
  Effect.flatMap(Posts, ({ create }) => create({ text: "hello" })),
  Effect.flatMap(Posts, ({ comment }) => comment(PostId.make("1"), "hello")),
  Effect.flatMap(Posts, ({ list }) => Stream.runDrain(list())),
  Effect.flatMap(Media, ({ upload }) => upload({ fileName: "a.png", content: Stream.succeed(new Uint8Array(3)) })),
  Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make("p"), 1)),
  Effect.flatMap(Store, ({ ship }) => ship(OrderId.make("o"), { carrier: "c", trackingNumber: "t" })),
  Effect.flatMap(Chat, ({ send }) => send(ConversationId.make("c"), "hello")),
  Plaza.request({ method: "DELETE", path: "/posts/1", response: Schema.Unknown })
]

/** The key in the forms of common encoders: JSON of .NET and PHP, URLs, HTML. */
const escapes: ReadonlyArray<string> = [
  Array.from(Fake.key, (character) => `\\u00${character.charCodeAt(0).toString(16)}`).join(""),
  Fake.key.replace("_", "\\u005F"),
  Fake.key.replace("_", "%5f"),
  Fake.key.replace("k", "&#107;"),
  Fake.key
]

/** Decodes every escape of {@link escapes}, to find an echo in any form. */
const unescaped = (text: string): string =>
  text.replace(/\\+u00([0-9a-f]{2})|%([0-9a-f]{2})/gi, (_, unicode?: string, percent?: string) =>
    String.fromCharCode(Number.parseInt(unicode ?? percent ?? "", 16))).replaceAll("&#107;", "k")

const echo = `<html>Authorization: Bearer ${Fake.key}</html>`
const replies: ReadonlyArray<Fake.Reply> = [
  Fake.json({ id: "1" }),
  Fake.json({ data: [], next_cursor: null }),
  Fake.refused,
  Fake.lost,
  "hang",
  { cut: 200, body: echo },
  { status: 200, body: echo },
  { status: 400, body: echo },
  { status: 502, body: echo },
  Fake.refusal(401, "INVALID_API_KEY", { sent: `Bearer ${Fake.key}` }),
  Fake.refusal(500, "INTERNAL_ERROR", { headers: { authorization: [Fake.key] } }),
  Fake.refusal(429, "RATE_LIMITED", {}, { "retry-after": "1" }),
  Fake.refusal(403, "FORBIDDEN", {}, { "x-request-id": `for ${Fake.key}` }),
  ...escapes.flatMap((escaped): ReadonlyArray<Fake.Reply> => [
    { status: 401, body: `{"error":{"code":"INVALID_API_KEY","message":"Bearer ${escaped}","${escaped}":{"headers":["${escaped}"]}}}` },
    { status: 418, body: `{"error":{"code":"${escaped}"}}`, headers: { "x-request-id": escaped } },
    { status: 502, body: `<p>${escaped}</p>` },
    { status: 200, body: `{"data":[{"id":"${escaped}"},{"id":7,"${escaped}":1}],"next_cursor":null}` }
  ])
]

it.effect("the key is in no log, span, error or report, for any response of the service", () =>
  Effect.gen(function*() {
    for (const call of calls) {
      for (const reply of replies) {
        const { layer } = Fake.scripted([reply], { maxWait: "3 seconds" })
        const out = yield* TestTime.advancing(everything(Effect.provide(call, layer)))
        expect(out).toContain("plaza.")
        expect(unescaped(out)).not.toContain(Fake.key)
      }
    }
  }))

it.effect.each(Object.entries(KeyEchoes.forms))("the key is in no output of a call whose response echoes it %s",
  ([, form]) =>
    Effect.gen(function*() {
      const echo = form(Fake.key)
      const headers = { "x-request-id": echo, "x-folded": `${echo.slice(0, 9)} \t${echo.slice(9)}` }
      const body = `{"error":{"code":"NOT_FOUND","message":"for ${echo}","${echo}":["${echo}"]},"data":[{"id":"${echo}"}],"text":"${echo}"}`
      for (const call of calls) {
        for (const status of [200, 404]) {
          const out = yield* TestTime.advancing(everything(Effect.provide(call, Fake.scripted([{ status, headers, body }]).layer)))
          expect(out).toContain("<redacted>")
          expect(KeyEchoes.isLeaking(out, Fake.key)).toBe(false)
        }
      }
    }))

it.effect("the key is in no output of calls that the sandbox refuses or fails", () =>
  Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    const key = Redacted.value(sandbox.apiKey)
    for (const call of calls) {
      for (const status of [401, 403, 404, 429, 500]) {
        yield* sandbox.addFault({ kind: "status", when: "before", status })
      }
      expect(yield* everything(call)).not.toContain(key)
    }
  }).pipe(TestTime.advancing, Effect.provide(OnSandbox.inProcess())))

it.live("the key is in no output of calls to an unreachable service", () =>
  Effect.gen(function*() {
    // A port that was free a moment ago and that nobody listens on now.
    const port = yield* Effect.callback<number>((resume) => {
      const server = createServer().listen(0, "127.0.0.1", () => {
        const address = server.address()
        server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
      })
    })
    for (const [client, http] of runtimes) {
      const layer = Plaza.layer({
        baseUrl: `http://127.0.0.1:${port}/open/v1`,
        apiKey: Redacted.make(Fake.key),
        retry: Schedule.recurs(0)
      }).pipe(Layer.provide(http))
      const out = yield* everything(Effect.provide(Effect.flatMap(Profiles, ({ me }) => me), layer))
      expect([client, out.includes("ECONNREFUSED"), out.includes(Fake.key)]).toEqual([client, true, false])
    }
  }))

const malformed: ReadonlyArray<readonly [what: string, key: string]> = [
  ["a space", `${Fake.key} x`],
  ["a line break at its end", `${Fake.key}\n`],
  ["a character that isn't ASCII", `${Fake.key}é`]
]
for (const [what, key] of malformed) {
  it.effect(`a key with ${what} is not shown by the settings that refuse it`, () =>
    Effect.gen(function*() {
      const fromOptions = yield* Effect.exit(Layer.build(Plaza.layer({ baseUrl: Fake.baseUrl, apiKey: Redacted.make(key) })).pipe(
        Effect.provide(Fake.layerHttpClient(() => Effect.succeed("hang")))
      ))
      const environment = ConfigProvider.layer(ConfigProvider.fromEnvRecord({ PLAZA_BASE_URL: Fake.baseUrl, PLAZA_API_KEY: key }))
      const fromConfig = yield* Effect.exit(Layer.build(Layer.provide(Plaza.layerConfig, environment)).pipe(
        Effect.provide(Fake.layerHttpClient(() => Effect.succeed("hang")))
      ))
      const exits: ReadonlyArray<readonly [Exit.Exit<unknown, unknown>, string]> = [[fromOptions, "apiKey"], [fromConfig, "PLAZA_API_KEY"]]
      for (const [exit, setting] of exits) {
        const out = [written(exit), Exit.isFailure(exit) ? cause(exit.cause) : ""].join("\n")
        expect(out).toContain(setting)
        expect(out).not.toContain(Fake.key)
      }
    }).pipe(Effect.scoped))
}
