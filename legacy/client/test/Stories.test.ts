import { describe, expect, it } from "@effect/vitest"
import { Stories } from "@plaza-legacy/client"
import { Effect, FastCheck as fc } from "effect"
import * as Fake from "./support/FakeService.ts"

const create = (story: Parameters<typeof Stories.Service.create>[0]) => Effect.flatMap(Stories, (stories) => stories.create(story))

const json = fc.dictionary(fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "toString", "0")),
  fc.jsonValue({ maxDepth: 2 }))

describe("a story", () => {
  it.effect.prop("is sent unchanged, with any property names", [json], ([story]) =>
    Effect.gen(function*() {
      const { calls, layer } = Fake.scripted([Fake.json({})])
      yield* Effect.provide(create(story), layer)
      expect(calls[0]?.body).toBe(JSON.stringify(story))
    }))

  it.effect("keeps a property named __proto__", () =>
    Effect.gen(function*() {
      const { calls, layer } = Fake.scripted([Fake.json({})])
      const body = `{"text":"a","__proto__":{"polluted":true},"inner":{"__proto__":1}}`
      yield* Effect.provide(create(JSON.parse(body) as Record<string, unknown>), layer)
      expect(calls[0]?.body).toBe(body)
    }))

  it.effect("that is not an object, or can't be encoded as JSON, fails without a request", () =>
    Effect.gen(function*() {
      const { calls, layer } = Fake.scripted([Fake.json({})])
      const cycle: Record<string, unknown> = {}
      cycle["self"] = cycle
      // The test passes what a program without types can pass.
      for (const story of [null, "text", [1], cycle] as ReadonlyArray<unknown> as ReadonlyArray<Record<string, unknown>>) {
        expect(yield* Effect.flip(Effect.provide(create(story), layer))).toMatchObject({ _tag: "InvalidInput" })
      }
      expect(calls).toHaveLength(0)
    }))
})
