import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { ConfigProvider, Effect, FileSystem, Option, Redacted } from "effect"
import * as ObservabilitySettings from "../src/config/ObservabilitySettings.ts"
import { parse } from "./support/settings.ts"

const resolved = (argv: ReadonlyArray<string>, variables: Readonly<Record<string, string>> = {}) =>
  Effect.provideService(
    parse(ObservabilitySettings.options, argv, ObservabilitySettings.resolve),
    ConfigProvider.ConfigProvider,
    ConfigProvider.fromUnknown(variables)
  )

describe("the settings of observability", () => {
  it.effect("are a log of text by default, and nothing else", () =>
    Effect.gen(function*() {
      expect(yield* resolved([])).toEqual({
        logs: { format: "text", level: "Info" },
        server: Option.none(),
        webhook: Option.none(),
        notify: Option.none(),
        otlp: Option.none()
      })
    }))

  it.effect("listen on this machine alone, unless another address is given", () =>
    Effect.gen(function*() {
      expect((yield* resolved(["--port", "0"])).server).toEqual(Option.some({ host: "127.0.0.1", port: 0 }))
      const found = yield* resolved([], {
        STOCK_SYNC_PORT: "9464",
        STOCK_SYNC_HOST: "0.0.0.0",
        STOCK_SYNC_LOG_FORMAT: "json",
        STOCK_SYNC_LOG_LEVEL: "Debug"
      })
      expect(found).toMatchObject({ logs: { format: "json", level: "Debug" }, server: Option.some({ host: "0.0.0.0", port: 9464 }) })
      expect((yield* resolved(["--port", "1"], { STOCK_SYNC_PORT: "2" })).server).toMatchObject(Option.some({ port: 1 }))
    }))

  it.effect("are refused with the option and the variable to change", () =>
    Effect.gen(function*() {
      for (
        const [variable, flag, value] of [
          ["STOCK_SYNC_PORT", "--port", "65536"],
          ["STOCK_SYNC_PORT", "--port", "http"],
          ["STOCK_SYNC_LOG_FORMAT", "--log-format", "xml"],
          ["STOCK_SYNC_LOG_LEVEL", "--log-level", "loud"]
        ] as const
      ) {
        const { message } = yield* Effect.flip(resolved([], { [variable]: value }))
        for (const part of [variable, flag, value]) expect(message).toContain(part)
      }
    }))
})

describe("the address of the chat", () => {
  const url = "https://hooks.example/T1/t0ken"
  const given = (argv: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
    Effect.map(resolved(argv, env), ({ notify }) =>
      Option.getOrUndefined(Option.map(notify, (settings) => Redacted.value(settings.url).href)))

  it.effect("is that of the option, else of the variable, else of the file", () =>
    Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const file = `${yield* files.makeTempDirectoryScoped()}/chat`
      yield* files.writeFileString(file, `${url}/file\n`)
      expect(yield* given(["--notify", url], { STOCK_SYNC_NOTIFY: `${url}/variable` })).toBe(url)
      expect(yield* given([], { STOCK_SYNC_NOTIFY: `${url}/variable` })).toBe(`${url}/variable`)
      expect(yield* given([], { STOCK_SYNC_NOTIFY_FILE: file })).toBe(`${url}/file`)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

  it.effect("is refused without showing it", () =>
    Effect.gen(function*() {
      for (
        const [address, message] of [
          ["hooks/t0ken", /^the address of the chat must be an address .*: change --notify, STOCK_SYNC_NOTIFY or STOCK_SYNC_NOTIFY_FILE$/],
          ["http://hooks.example/t0ken", /must begin with https:\/\/.*PLAZA_ALLOW_INSECURE_HTTP=true/],
          ["https://user:t0ken@hooks.example/", /user name or a password/]
        ] as const
      ) {
        const { message: refused } = yield* Effect.flip(given([], { STOCK_SYNC_NOTIFY: address }))
        expect(refused).toMatch(message)
        expect(refused).not.toContain("t0ken")
      }
    }))
})

describe("the settings of the webhook", () => {
  const secret = `whsec_${Buffer.from("an example secret of 24 b.").toString("base64")}`
  const url = "https://hooks.example/a?token=t0ken"
  const given = (env: Readonly<Record<string, string>>) => resolved([], env)

  it.effect("are an address and a secret", () =>
    Effect.gen(function*() {
      const { webhook } = yield* given({ STOCK_SYNC_WEBHOOK: url, STOCK_SYNC_WEBHOOK_SECRET: secret })
      const settings = Option.getOrThrow(webhook)
      expect(Redacted.value(settings.url).href).toBe(url)
      expect(Buffer.from(Redacted.value(settings.secret)).toString()).toBe("an example secret of 24 b.")
      for (const local of ["http://localhost:8080/", "http://127.0.0.1/", "http://[::1]:9/"]) {
        expect(Option.isSome((yield* given({ STOCK_SYNC_WEBHOOK: local, STOCK_SYNC_WEBHOOK_SECRET: secret })).webhook)).toBe(true)
      }
      const insecure = { STOCK_SYNC_WEBHOOK: "http://hooks.example/", STOCK_SYNC_WEBHOOK_SECRET: secret, PLAZA_ALLOW_INSECURE_HTTP: "true" }
      expect(Option.isSome((yield* given(insecure)).webhook)).toBe(true)
    }))

  it.effect("take any long text for a secret, and base64 behind whsec_", () =>
    Effect.gen(function*() {
      const bytes = (written: string) =>
        Effect.map(given({ STOCK_SYNC_WEBHOOK: url, STOCK_SYNC_WEBHOOK_SECRET: written }),
          ({ webhook }) =>
            Option.getOrUndefined(Option.map(webhook, (settings) => Buffer.from(Redacted.value(settings.secret)).toString())))
      expect(yield* bytes(secret)).toBe("an example secret of 24 b.")
      expect(yield* bytes("a long text, chosen by a shopkeeper")).toBe("a long text, chosen by a shopkeeper")
    }))

  it.effect("are refused without showing a secret", () =>
    Effect.gen(function*() {
      const wrong: ReadonlyArray<readonly [env: Readonly<Record<string, string>>, message: RegExp]> = [
        [{ STOCK_SYNC_WEBHOOK: url }, /needs a secret.*STOCK_SYNC_WEBHOOK_SECRET or STOCK_SYNC_WEBHOOK_SECRET_FILE/],
        [{ STOCK_SYNC_WEBHOOK: url, STOCK_SYNC_WEBHOOK_SECRET: "s3cret" }, /^STOCK_SYNC_WEBHOOK_SECRET must be at least 16 characters/],
        [
          { STOCK_SYNC_WEBHOOK: url, STOCK_SYNC_WEBHOOK_SECRET: `whsec_${"s3cret!".repeat(8)}` },
          /^STOCK_SYNC_WEBHOOK_SECRET must be at least 16 characters/
        ],
        [{ STOCK_SYNC_WEBHOOK: "hooks/t0ken", STOCK_SYNC_WEBHOOK_SECRET: secret }, /must be an address.*--webhook or STOCK_SYNC_WEBHOOK/],
        [{ STOCK_SYNC_WEBHOOK: "ftp://hooks.example/t0ken", STOCK_SYNC_WEBHOOK_SECRET: secret }, /must begin with https/],
        [{ STOCK_SYNC_WEBHOOK: "https://user:t0ken@hooks.example/", STOCK_SYNC_WEBHOOK_SECRET: secret }, /user name or a password/],
        [{ STOCK_SYNC_WEBHOOK: "http://hooks.example/t0ken", STOCK_SYNC_WEBHOOK_SECRET: secret }, /PLAZA_ALLOW_INSECURE_HTTP=true/]
      ]
      for (const [env, message] of wrong) {
        const { message: refused } = yield* Effect.flip(given(env))
        expect(refused).toMatch(message)
        expect(refused).not.toMatch(/t0ken|s3cret/)
      }
    }))
})
