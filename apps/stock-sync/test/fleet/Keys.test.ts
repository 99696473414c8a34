/** Keys of accounts: where they come from, and how they are sealed. */
import { describe, expect, it } from "@effect/vitest"
import * as Generate from "@plaza/testing/Generators"
import { ConfigProvider, Effect, FileSystem, Option, Redacted, Result } from "effect"
import * as FleetSecret from "../../src/fleet/FleetSecret.ts"
import * as KeyReference from "../../src/fleet/KeyReference.ts"

const first = "first secret of the fleet"
const second = "second secret of the fleet"

const withSecret = (...secrets: readonly [string, ...ReadonlyArray<string>]) =>
  Effect.provide(FleetSecret.FleetSecret, FleetSecret.layer(...secrets))

const opened = (result: Result.Result<Redacted.Redacted, FleetSecret.SealProblem>) => Result.map(result, Redacted.value)

describe("a sealed key", () => {
  const secret = Effect.runSync(Effect.cached(withSecret(first)))

  it.effect.prop(
    "opens under the same secret for the same account, and shows nothing of the key",
    [Generate.unicode({ minLength: 1 }), Generate.unicode({ minLength: 20, maxLength: 60 })],
    ([account, key]) =>
      Effect.gen(function*() {
        const { open, seal } = yield* secret
        const sealed = yield* seal(account, Redacted.make(key))
        expect(opened(open(account, sealed))).toEqual(Result.succeed(key))
        expect(sealed).not.toContain(key)
        expect(opened(open(`${account}x`, sealed))).toEqual(Result.fail("damaged"))
      })
  )

  it.effect("differs each time, so that equal keys can't be recognised", () =>
    Effect.gen(function*() {
      const { seal } = yield* secret
      expect(yield* seal("a", Redacted.make("key"))).not.toBe(yield* seal("a", Redacted.make("key")))
    }))

  it.effect("does not open if one character of it changes", () =>
    Effect.gen(function*() {
      const { open, seal } = yield* secret
      const sealed = yield* seal("a", Redacted.make("sk_0123456789"))
      for (let at = 0; at < sealed.length; at++) {
        const changed = sealed.slice(0, at) + (sealed[at] === "A" ? "B" : "A") + sealed.slice(at + 1)
        // The last character of base64 has bits that stand for nothing.
        if (at < sealed.length - 1) expect([at, Result.isFailure(open("a", changed))]).toEqual([at, true])
      }
      for (const other of ["", "v1:", "v2:00000000:AAAA", sealed.slice(0, 20)])
        expect(opened(open("a", other))).toEqual(
          Result.fail("malformed")
        )
    }))

  it.effect("opens under an earlier secret that is listed second, and is then sealed anew", () =>
    Effect.gen(function*() {
      const before = yield* withSecret(first)
      const sealed = yield* before.seal("a", Redacted.make("key"))
      const after = yield* withSecret(second, first)
      expect(opened(after.open("a", sealed))).toEqual(Result.succeed("key"))
      expect([before.isCurrent(sealed), after.isCurrent(sealed)]).toEqual([true, false])
      const other = yield* withSecret(second)
      expect(opened(other.open("a", sealed))).toEqual(Result.fail("otherSecret"))
    }))
})

describe("STOCK_SYNC_FLEET_SECRET", () => {
  const from = (text: string) =>
    FleetSecret.fromConfig.pipe(
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: { STOCK_SYNC_FLEET_SECRET: text } })),
      Effect.provide(FileSystem.layerNoop({}))
    )

  it.effect("is optional, and refused if it can be guessed", () =>
    Effect.gen(function*() {
      expect(Option.isNone(yield* from(" "))).toBe(true)
      expect(Option.isSome(yield* from(`${first}, ${second}`))).toBe(true)
      for (const text of ["guess-me", `${first}, guess-me`]) {
        const error = yield* Effect.flip(from(text))
        expect(error).toMatchObject({ _tag: "UsageError" })
        expect(error.message).toContain("at least 16 random characters")
        expect(error.message).not.toContain(text)
      }
    }))
})

describe("a reference to a key", () => {
  const none = Option.none<FleetSecret.FleetSecret["Service"]>()
  const files = FileSystem.layerNoop({
    readFile: (path) =>
      path === "/run/key"
        ? Effect.succeed(Buffer.from("sk_from_file\n"))
        : path === "/run/empty"
        ? Effect.succeed(Buffer.from("\n"))
        : Effect.die("no such file")
  })
  const environment = ConfigProvider.fromEnv({ env: { SHOP_KEY: "sk_from_env", EMPTY: " " } })
  const resolved = (text: string, secret = none) =>
    KeyReference.parse("shop-1", text, secret).pipe(
      Effect.flatMap((reference) => KeyReference.resolve("shop-1", reference, secret)),
      Effect.map(Redacted.value),
      Effect.provide(files),
      Effect.provideService(ConfigProvider.ConfigProvider, environment)
    )

  it.effect("reads an environment variable, a file, or opens what the database holds", () =>
    Effect.gen(function*() {
      expect(yield* resolved("env:SHOP_KEY")).toBe("sk_from_env")
      expect(yield* resolved(" file:/run/key ")).toBe("sk_from_file")
      const secret = Option.some(yield* withSecret(first))
      expect(yield* resolved("sk_in_the_clear", secret)).toBe("sk_in_the_clear")
      const reference = yield* KeyReference.parse("shop-1", "sk_in_the_clear", secret)
      expect(reference._tag).toBe("Sealed")
      expect(KeyReference.display(reference)).toBe("sealed")
      expect(KeyReference.decode(KeyReference.encode(reference))).toEqual(Option.some(reference))
    }))

  it.effect("that can't be used is refused with what to do, and without the key", () =>
    Effect.gen(function*() {
      const cases = [
        ["", "write env:NAME, file:PATH or the key itself"],
        ["sk_in_the_clear", "requires STOCK_SYNC_FLEET_SECRET"],
        ["sealed:v1:00000000:AAAA", "only the database uses"],
        ["env:A B", "use letters, digits and underscores"],
        ["env:MISSING", "set it for this runner"],
        ["env:EMPTY", "is empty"],
        ["file:/run/empty", "is empty"]
      ] as const
      for (const [text, says] of cases) {
        const error = yield* Effect.flip(resolved(text))
        expect(error).toMatchObject({ _tag: "InvalidAccount", id: "shop-1" })
        expect(error.message).toContain("account shop-1: ")
        expect(error.message).toContain(says)
        expect(error.message).not.toContain("sk_in_the_clear")
      }
    }))

  it.each([
    [{ _tag: "Env", name: "SHOP_KEY" }, "set SHOP_KEY to it for each runner, and restart the runners"],
    [
      { _tag: "File", path: "/run/my key" },
      "write it to /run/my key for each runner, and run \"plaza-stock-sync fleet accounts update --key 'file:/run/my key' -- -shop\""
    ],
    [{ _tag: "Sealed", text: "v1:00000000:AAAA" }, "and set it with \"plaza-stock-sync fleet accounts update --key - -- -shop\""]
  ] as const)("says what to do with a new key: %j", (reference, says) => {
    expect(KeyReference.setKey("-shop", reference)).toBe(says)
  })
})
