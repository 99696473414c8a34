/**
 * Every response of every operation is encoded by the schema of the contract, with its further fields.
 */
import { HttpApi } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { PlazaApiWithStories } from "@plaza/domain/PlazaApi"
import { Arbitrary, FastCheck as fc, Option, Predicate, Schema } from "effect"
import { AssumedApi } from "../src/AssumedApi.js"
import { bodySchema } from "../src/http/Operation.js"
import { responseBody } from "../src/http/ServedEndpoint.js"

/** The schema of every response with a body, by operation. */
const responses = new Map<string, Schema.Schema<unknown, unknown>>()
const onEndpoint = (
  { endpoint: { name, successSchema } }: { readonly endpoint: { readonly name: string; readonly successSchema: Schema.Schema.All } }
) => Option.map(bodySchema(successSchema), (schema) => responses.set(name, schema))
HttpApi.reflect(PlazaApiWithStories, { onGroup: () => {}, onEndpoint })
HttpApi.reflect(AssumedApi, { onGroup: () => {}, onEndpoint })

/** Further fields of the sandbox. */
const further = fc.dictionary(fc.constantFrom("authorId", "shippedAt", "note"), fc.oneof(fc.string(), fc.constant(null), fc.nat()))

const isWritten = (write: () => unknown): boolean => {
  try {
    write()
    return true
  } catch {
    return false
  }
}

describe("a response is encoded by its schema", () => {
  for (const [name, plain] of responses) {
    it(`for ${name}`, () => {
      const bySchema = Schema.encodeUnknownSync(plain, { onExcessProperty: "preserve" })
      const written = Schema.encodeUnknownSync(responseBody(plain, "preserve"))
      const value = Arbitrary.make(plain).filter(Predicate.isRecord)
      fc.assert(fc.property(value, further, (value, more) => {
        const whole = { ...more, ...value }
        expect(written(whole)).toEqual(bySchema(whole))
        // A value that does not match the contract is a defect of its handler.
        for (const wrong of [5, null, [whole], ...Object.keys(whole).map((key) => ({ ...whole, [key]: 5n }))]) {
          expect(isWritten(() => written(wrong))).toBe(isWritten(() => bySchema(wrong)))
        }
      }), { numRuns: 50 })
    })
  }

  it("for dates and renamed fields in nested lists, and for fields that are omitted or null", () => {
    const item = Schema.Struct({ at: Schema.DateTimeUtc, note: Schema.optionalWith(Schema.String, { nullable: true, exact: true }) })
    const schema = Schema.Struct({
      rows: Schema.Array(Schema.Array(item)),
      newName: Schema.propertySignature(Schema.NullOr(Schema.DateTimeUtc)).pipe(Schema.fromKey("old_name")),
      count: Schema.optional(Schema.NumberFromString)
    })
    const bySchema = Schema.encodeUnknownSync(schema, { onExcessProperty: "preserve" })
    fc.assert(fc.property(Arbitrary.make(schema), further, (value, more) => {
      expect(Schema.encodeUnknownSync(responseBody(schema, "preserve"))({ ...value, ...more })).toEqual(bySchema({ ...value, ...more }))
    }))
  })
})
