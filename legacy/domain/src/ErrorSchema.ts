/**
 * The errors of the interface as schemas of response bodies, for an `HttpApi`.
 *
 * Source: interface v1, "Errors".
 *
 * @since 0.1.0
 */
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as Schema from "effect/Schema"
import { byCode, envelope, fromCode } from "./Errors.ts"
import type { DocumentedError, ErrorCode, ErrorEnvelope } from "./Errors.ts"

const schemaOf = (code: ErrorCode) => {
  const sample = fromCode(code, { message: "" })
  return Schema.transform(
    envelope({ code: Schema.Literal(code), message: Schema.String }),
    Schema.declare((error: unknown): error is DocumentedError => error instanceof byCode[code]),
    {
      strict: true,
      decode: ({ error: { code: _, message, ...details } }) => fromCode(code, { message, details }),
      encode: ({ details, message }) => ({ error: { ...details, code, message } })
    }
  ).annotations({
    identifier: sample._tag,
    description: code,
    ...HttpApiSchema.annotations({ status: sample.status })
  })
}

// Each schema is created once, because the endpoints share most of their codes.
const schemas = new Map<ErrorCode, ReturnType<typeof schemaOf>>()

/**
 * The schema of a documented error as a response body, `{ error: { code, message, ...details } }`, annotated with its
 * status. Headers such as `Retry-After` are not part of it.
 *
 * @since 0.1.0
 * @category schemas
 */
export const errorResponse = <Code extends ErrorCode>(
  code: Code
): Schema.Schema<InstanceType<(typeof byCode)[Code]>, ErrorEnvelope> => {
  const schema = schemas.get(code) ?? schemaOf(code)
  schemas.set(code, schema)
  // True because `byCode` maps each code to its class. The compiler can't follow the lookup.
  return schema as unknown as Schema.Schema<InstanceType<(typeof byCode)[Code]>, ErrorEnvelope>
}

/**
 * The schema of any of these documented errors.
 *
 * @since 0.1.0
 * @category schemas
 */
export const anyOf = <const Code extends ErrorCode>(
  codes: ReadonlyArray<Code>
): Schema.Schema<InstanceType<(typeof byCode)[Code]>, ErrorEnvelope> => Schema.Union(...codes.map((code) => errorResponse(code)))
