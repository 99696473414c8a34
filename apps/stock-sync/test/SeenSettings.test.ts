import { describe, expect, it } from "@effect/vitest"
import { ConfigProvider, Effect, Either, LogLevel, Option } from "effect"
import { resolveSeen } from "../src/SeenSettings.js"

const untold = { port: Option.none(), host: Option.none(), logFormat: Option.none(), logLevel: Option.none() }

const resolved = (options: Partial<Parameters<typeof resolveSeen>[0]>, variables: Readonly<Record<string, string>> = {}) =>
  Effect.withConfigProvider(resolveSeen({ ...untold, ...options }), ConfigProvider.fromMap(new Map(Object.entries(variables))))

describe("how a loop is seen", () => {
  it.effect("is by lines of text alone unless told", () =>
    Effect.gen(function*() {
      expect(yield* resolved({})).toEqual({ logs: { format: "text", level: LogLevel.Info }, server: Option.none(), otlp: Option.none() })
    }))

  it.effect("is on this machine alone where a port is told, and elsewhere only where an address is", () =>
    Effect.gen(function*() {
      expect((yield* resolved({ port: Option.some("0") })).server).toEqual(Option.some({ host: "127.0.0.1", port: 0 }))
      const told = yield* resolved({}, {
        STOCK_SYNC_PORT: "9464",
        STOCK_SYNC_HOST: "0.0.0.0",
        STOCK_SYNC_LOG_FORMAT: "json",
        STOCK_SYNC_LOG_LEVEL: "Debug"
      })
      expect(told).toMatchObject({ logs: { format: "json", level: LogLevel.Debug }, server: Option.some({ host: "0.0.0.0", port: 9464 }) })
      expect((yield* resolved({ port: Option.some("1") }, { STOCK_SYNC_PORT: "2" })).server).toMatchObject(Option.some({ port: 1 }))
    }))

  it.effect("is refused where it can't be, with both ways of telling it", () =>
    Effect.gen(function*() {
      for (const [variable, flag, value] of [
        ["STOCK_SYNC_PORT", "--port", "65536"],
        ["STOCK_SYNC_PORT", "--port", "http"],
        ["STOCK_SYNC_LOG_FORMAT", "--log-format", "xml"],
        ["STOCK_SYNC_LOG_LEVEL", "--log-level", "loud"]
      ] as const) {
        const refused = yield* Effect.either(resolved({}, { [variable]: value }))
        const message = Either.match(refused, { onLeft: ({ message }) => message, onRight: () => "taken" })
        for (const part of [variable, flag, value]) expect(message).toContain(part)
      }
    }))
})
