/**
 * Errors with a schema that is created on first use are the same as those of `Schema.TaggedError`, whatever the first use is.
 */
import { it } from "@effect/vitest"
import { Effect, Either, Equal, Exit, Schema } from "effect"
import { inspect } from "node:util"
import { describe, expect } from "vitest"
import { taggedError } from "../src/internal/TaggedError.ts"

const fields = () => ({
  message: Schema.String,
  status: Schema.Literal(404).pipe(Schema.propertySignature, Schema.withConstructorDefault(() => 404 as const)),
  count: Schema.optionalWith(Schema.NumberFromString, { exact: true })
})

/** A new class each time, of which nothing was used yet. */
const made = () => {
  class Missing extends taggedError<Missing>("@test/Missing")("Missing", fields) {}
  return Missing
}

const reference = () => {
  class Missing extends Schema.TaggedError<Missing>("@test/Missing")("Missing", fields()) {}
  return Missing
}

type Class = ReturnType<typeof made> | ReturnType<typeof reference>

/** What a program can see of a class and of its errors. */
const uses: Readonly<Record<string, (missing: Class) => unknown>> = {
  "an error": (missing) => Object.entries(new missing({ message: "no", count: 2 })),
  "an error as text": (missing) => String(new missing({ message: "no" })),
  "an error as JSON": (missing) => JSON.stringify(new missing({ message: "no", count: 1 })),
  "an inspected error": (missing) => inspect(new missing({ message: "no" })).split("\n")[0],
  "an invalid error": (missing) => String(Either.flip(Either.try(() => new missing({ message: 1 as never })))),
  "an error without validation": (missing) => new missing({ message: 1 as never }, true).message,
  "make": (missing) => missing.make({ message: "no" }) instanceof missing,
  "inheritance": (missing) => {
    const error = new missing({ message: "no" })
    return [error instanceof Error, error instanceof missing, error.name, error.constructor === missing, Effect.isEffect(error)]
  },
  "equality": (missing) => Equal.equals(new missing({ message: "no" }), new missing({ message: "no" })),
  "a failure": (missing) => Exit.isFailure(Effect.runSyncExit(new missing({ message: "no" }))),
  "decoding": (missing) => {
    const error = Schema.decodeUnknownSync(missing)({ _tag: "Missing", message: "no", status: 404, count: "3" })
    return [error instanceof missing, error.count]
  },
  "encoding": (missing) => Schema.encodeSync(missing)(new missing({ message: "no", count: 3 })),
  "a guard": (missing) => [Schema.is(missing)(new missing({ message: "no" })), Schema.is(missing)({ _tag: "Missing" })],
  "a union": (missing) => String(Schema.Union(missing, Schema.String)),
  "the message of a decode error": (missing) => String(Either.flip(Schema.decodeUnknownEither(missing)({ _tag: "Other" }))),
  "fields": (missing) => Object.keys(missing.fields),
  "identifier": (missing) => missing.identifier,
  "tag": (missing) => missing._tag,
  "the class as text": (missing) => String(missing),
  "ast": (missing) => [missing.ast === missing.ast, String(missing.ast), missing.ast.to._tag],
  "annotations": (missing) => String(missing.annotations({ identifier: "Other" })),
  "pipe": (missing) => missing.pipe(Schema.isSchema),
  "isSchema": Schema.isSchema
}

const statics = (type: object | null): ReadonlyArray<PropertyKey> =>
  type === null || type === Function.prototype || type === Error
    ? []
    : [...Reflect.ownKeys(type), ...statics(Reflect.getPrototypeOf(type))]

describe("an error class with a schema that is created on first use", () => {
  it.each(Object.entries(uses))("gives the same for %s, as its first use and later", (_, use) => {
    const expected = use(reference())
    const missing = made()
    expect(use(missing)).toEqual(expected)
    expect(use(missing)).toEqual(expected)
  })

  it("has each static property of the other class before its first use", () => {
    const names = statics(reference())
    expect(names).toContain("transformOrFail")
    // A new class for each property, of which nothing was used yet.
    const seen = names.map((name) => {
      const missing = made()
      return [name, name in missing, typeof Reflect.get(missing, name)]
    })
    expect(seen).toEqual(names.map((name) => [name, true, typeof Reflect.get(reference(), name)]))
  })

  it("creates its fields once, and not before its first use", () => {
    let count = 0
    class Missing extends taggedError<Missing>("@test/Missing")("Missing", () => {
      count++
      return fields()
    }) {}
    expect(count).toBe(0)
    expect([new Missing({ message: "a" }), new Missing({ message: "b" })].map(({ message }) => message)).toEqual(["a", "b"])
    expect(Missing.identifier).toBe("@test/Missing")
    expect(count).toBe(1)
  })

  it("can be extended, and an error of another copy of the class passes its guard", () => {
    class Special extends made().extend<Special>("@test/Special")({ reason: Schema.String }) {}
    expect(new Special({ message: "no", reason: "because" })).toMatchObject({ _tag: "Missing", reason: "because", status: 404 })
    expect(Schema.is(made())(new (reference())({ message: "no" }))).toBe(true)
  })
})
