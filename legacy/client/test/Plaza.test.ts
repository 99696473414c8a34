/** Layers of several clients in one program. */
import { describe, expect, it } from "@effect/vitest"
import { Plaza, Profiles, RateLimit } from "@plaza-legacy/client"
import * as Chat from "@plaza-legacy/client/Chat"
import * as Media from "@plaza-legacy/client/Media"
import * as Posts from "@plaza-legacy/client/Posts"
import * as ProfilesArea from "@plaza-legacy/client/Profiles"
import * as Store from "@plaza-legacy/client/Store"
import * as Stories from "@plaza-legacy/client/Stories"
import { PostId, ProductId } from "@plaza-legacy/domain"
import { Context, Effect, Layer, Redacted } from "effect"
import * as Fake from "./support/FakeService.ts"

/** The key that each client sends, for clients in one layer graph. */
class Accounts extends Context.Tag("Accounts")<Accounts, Profiles["Type"]>() {}
class Others extends Context.Tag("Others")<Others, Profiles["Type"]>() {}

const keys = ["a", "b"].map((letter) => `key_${letter.repeat(40)}`)
const optionsOf = (key: string | undefined): Plaza.Options => ({ baseUrl: Fake.baseUrl, apiKey: Redacted.make(key ?? "") })

/** A service that responds with the key of the request. */
const echoing = (seen: Array<string | undefined>) =>
  Fake.layerHttpClient(({ headers }) =>
    Effect.sync(() => {
      seen.push(headers["authorization"])
      return Fake.json({ id: "1" })
    })
  )

const callBoth = Effect.gen(function*() {
  yield* (yield* Accounts).me
  yield* (yield* Others).me
  yield* (yield* Accounts).me
})

describe("two clients in one layer graph", () => {
  const expected = [keys[0], keys[1], keys[0]].map((key) => `Bearer ${key}`)

  it.effect("each send their own key", () =>
    Effect.gen(function*() {
      const seen: Array<string | undefined> = []
      const [one, other] = keys.map((key) => Plaza.layer(optionsOf(key)))
      const both = Layer.merge(
        Layer.provide(Layer.effect(Accounts, Profiles), one ?? Layer.die("no key")),
        Layer.provide(Layer.effect(Others, Profiles), other ?? Layer.die("no key"))
      )
      yield* Effect.provide(callBoth, Layer.provide(both, echoing(seen)))
      expect(seen).toEqual(expected)
    }))

  it.effect("each send their own key, with a shared rate limit", () =>
    Effect.gen(function*() {
      const seen: Array<string | undefined> = []
      const [one, other] = keys.map((key) => Plaza.layerWithoutRateLimit(optionsOf(key)))
      const both = Layer.merge(
        Layer.provide(Layer.effect(Accounts, Profiles), one ?? Layer.die("no key")),
        Layer.provide(Layer.effect(Others, Profiles), other ?? Layer.die("no key"))
      )
      yield* Effect.provide(callBoth, Layer.provide(both, [echoing(seen), RateLimit.layerMemory()]))
      expect(seen).toEqual(expected)
    }))

  it.effect("each send their own key, if one is provided within the other", () =>
    Effect.gen(function*() {
      const seen: Array<string | undefined> = []
      const me = Effect.flatMap(Profiles, ({ me }) => me)
      const inner = Effect.provide(me, Plaza.layer(optionsOf(keys[1])))
      yield* me.pipe(
        Effect.andThen(inner),
        Effect.andThen(me),
        Effect.provide(Layer.provideMerge(Plaza.layer(optionsOf(keys[0])), echoing(seen)))
      )
      expect(seen).toEqual(expected)
    }))
})

describe("layers of single services", () => {
  it.effect("send each call with the same key, and share one rate limit", () =>
    Effect.gen(function*() {
      const seen: Array<string | undefined> = []
      const services = Layer.mergeAll(ProfilesArea.layer, Chat.layer, Media.layer, Posts.layer, Store.layer, Stories.layer)
      const client = Plaza.layerOperations({ ...optionsOf(keys[0]), rateLimit: 2, maxWait: "1 second" })
      const exit = yield* Effect.gen(function*() {
        yield* (yield* Profiles).me
        yield* (yield* Store.Store).setStock(ProductId.make("1"), 2)
        return yield* Effect.exit((yield* Posts.Posts).like(PostId.make("1")))
      }).pipe(Effect.provide(Layer.provide(services, Layer.provide(client, echoing(seen)))))
      expect(seen).toEqual([`Bearer ${keys[0]}`, `Bearer ${keys[0]}`])
      expect(exit).toMatchObject({ cause: { error: { _tag: "RateLimitWaitExceeded" } } })
    }))
})
