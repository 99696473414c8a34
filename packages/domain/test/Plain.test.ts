/** Values without Effect, and back. */
import { expect, it } from "@effect/vitest"
import type { Plain } from "@plaza/domain/Plain"
import { fromPlain, toPlain } from "@plaza/domain/Plain"
import type { Post } from "@plaza/domain/Resources"
import { DateTime, Duration, type Effect, Schema } from "effect"

it("instants are dates, durations are milliseconds, and other values stay", () => {
  const at = DateTime.makeUnsafe(5_000)
  const error = new Error("broken")
  const bytes = new Uint8Array(2)
  expect(toPlain({ at, wait: Duration.seconds(2), list: [{ at }], text: "a", none: undefined, zero: null, error, bytes })).toEqual({
    at: new Date(5_000),
    wait: 2_000,
    list: [{ at: new Date(5_000) }],
    text: "a",
    none: undefined,
    zero: null,
    error,
    bytes
  })
  expect([toPlain(error), toPlain(bytes), toPlain(undefined)]).toEqual([error, bytes, undefined])
  expect(toPlain(DateTime.makeZonedUnsafe(5_000, { timeZone: "Europe/Paris" }))).toEqual(new Date(5_000))
})

it("a value of JSON has the same keys, also those with a meaning in JavaScript", () => {
  const json: unknown = JSON.parse(`{"__proto__":{"a":1},"constructor":2,"list":[{"__proto__":3}]}`)
  expect(JSON.stringify(toPlain(json))).toBe(JSON.stringify(json))
  expect(JSON.stringify(fromPlain(json))).toBe(JSON.stringify(json))
  expect(Object.hasOwn(Object.prototype, "a")).toBe(false)
})

it.prop("values without instants stay equal, and dates come back", [Schema.Json, Schema.DateTimeUtc], ([json, at]) => {
  expect(toPlain(json)).toEqual(json)
  expect(fromPlain(json)).toEqual(json)
  expect(fromPlain(toPlain({ at, list: [at] }))).toEqual({ at, list: [at] })
})

it("types say the same", () => {
  const post: Plain<Post> = { id: "p", mediaIds: ["m"], createdAt: new Date(0) }
  const id: string = post.id
  // @ts-expect-error: a date, not an instant of Effect
  const createdAt: DateTime.Utc | undefined = post.createdAt
  const find: Plain<(id: Post["id"]) => Effect.Effect<Post>> = (text: string) => Promise.resolve({ id: text })
  expect([id, createdAt, find.length]).toEqual(["p", new Date(0), 1])
})
