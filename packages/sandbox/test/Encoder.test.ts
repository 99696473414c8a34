/**
 * What is written by the short way is what the schema writes, for every answer of every operation.
 */
import { describe, expect, it } from "@effect/vitest"
import { HttpApi } from "@effect/platform"
import { AssumedApi } from "../src/AssumedApi.js"
import * as Encoder from "../src/http/Encoder.js"
import { PlazaApiWithStories } from "@plaza/domain/PlazaApi"
import { Arbitrary, FastCheck as fc, Predicate, Schema, SchemaAST as AST } from "effect"

/** Every answer that has a body, by its operation. */
const answers = new Map<string, AST.AST>()
const onEndpoint = ({ endpoint: { name, successSchema: { ast } } }: { readonly endpoint: { readonly name: string; readonly successSchema: Schema.Schema.Any } }) => {
  const [body, ...others] = (AST.isUnion(ast) ? ast.types : [ast]).filter((type) => !AST.isVoidKeyword(type))
  if (body !== undefined) {
    answers.set(name, AST.Union.make([body, ...others]))
  }
}
HttpApi.reflect(PlazaApiWithStories, { onGroup: () => {}, onEndpoint })
HttpApi.reflect(AssumedApi, { onGroup: () => {}, onEndpoint })

/** Further fields, as the sandbox has them. */
const further = fc.dictionary(fc.constantFrom("authorId", "shippedAt", "note"), fc.oneof(fc.string(), fc.constant(null), fc.nat()))

const isWritten = (write: () => unknown): boolean => {
  try {
    write()
    return true
  } catch {
    return false
  }
}

describe("the short way writes what the schema writes", () => {
  for (const [name, ast] of answers) {
    it(`for ${name}`, () => {
      const plain = Schema.make<unknown, unknown>(ast)
      const bySchema = Schema.encodeUnknownSync(plain, { onExcessProperty: "preserve" })
      const short = Encoder.make(plain)
      const value = Arbitrary.make(plain).filter(Predicate.isRecord)
      fc.assert(fc.property(value, further, (value, more) => {
        const whole = { ...more, ...value }
        expect(short(whole)).toEqual(bySchema(whole))
        // What isn't an answer of the contract is a defect of whoever made it, by either way.
        for (const wrong of [5, null, [whole], ...Object.keys(whole).map((key) => ({ ...whole, [key]: 5n }))]) {
          expect(isWritten(() => short(wrong))).toBe(isWritten(() => bySchema(wrong)))
        }
      }), { numRuns: 50 })
    })
  }

  it("for dates and other names in lists of lists, and fields that are left out or null", () => {
    const item = Schema.Struct({ at: Schema.DateTimeUtc, note: Schema.optionalWith(Schema.String, { nullable: true, exact: true }) })
    const schema = Schema.Struct({
      rows: Schema.Array(Schema.Array(item)),
      newName: Schema.propertySignature(Schema.NullOr(Schema.DateTimeUtc)).pipe(Schema.fromKey("old_name")),
      count: Schema.optional(Schema.NumberFromString)
    })
    const bySchema = Schema.encodeUnknownSync(schema, { onExcessProperty: "preserve" })
    fc.assert(fc.property(Arbitrary.make(schema), further, (value, more) => {
      expect(Encoder.make(schema)({ ...value, ...more })).toEqual(bySchema({ ...value, ...more }))
    }))
  })
})
