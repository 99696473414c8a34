/**
 * An endpoint as the sandbox serves it: responses may have fields that the contract doesn't have.
 *
 * @since 0.1.0
 */
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { jsonType } from "./Envelope.js"
import { bodySchema } from "./Operation.js"

/**
 * Whether a response keeps fields that the contract doesn't have. Clients ignore them.
 *
 * @since 0.1.0
 * @category models
 */
export type FurtherFields = "preserve" | "ignore"

/**
 * The schema of a response body. A value that does not match the contract is a defect: the platform would treat the encode
 * error as a decode error of the request and respond with 400.
 *
 * @since 0.1.0
 * @category schemas
 */
export const responseBody = <A, I>(schema: Schema.Schema<A, I>, furtherFields: FurtherFields): Schema.Schema<unknown, unknown> => {
  // Compiled on first use, because all schemas together take 10 ms or more.
  let encode: ((value: unknown) => unknown) | undefined
  return Schema.transformOrFail(Schema.Unknown, Schema.declare((value: unknown): value is unknown => value !== undefined), {
    strict: true,
    decode: (value, _, ast) => ParseResult.fail(new ParseResult.Forbidden(ast, value, "a response is never decoded")),
    encode: (value) => ParseResult.succeed((encode ??= Schema.encodeUnknownSync(schema, { onExcessProperty: furtherFields }))(value))
  }).pipe(HttpApiSchema.withEncoding({ kind: "Json", contentType: jsonType }))
}

/**
 * The same endpoint at another path, with a success schema of {@link responseBody}. It has no error schema,
 * because `Failures` encodes the errors.
 *
 * @since 0.1.0
 * @category constructors
 */
export const served = (
  endpoint: HttpApiEndpoint.HttpApiEndpoint.AnyWithProps,
  path: `/${string}`,
  furtherFields: FurtherFields
): HttpApiEndpoint.HttpApiEndpoint.AnyWithProps => {
  const fields = {
    path,
    errorSchema: Schema.Never,
    successSchema: Option.match(bodySchema(endpoint.successSchema), {
      onNone: () => HttpApiSchema.NoContent,
      onSome: (schema) => Schema.Union(responseBody(schema, furtherFields), HttpApiSchema.NoContent)
    })
  }
  // The platform copies its endpoints in the same way. True because the copy gets the prototype and all properties.
  return Object.assign(Object.create(Reflect.getPrototypeOf(endpoint)) as typeof endpoint, endpoint, fields)
}

/**
 * The failure schema of a middleware, from the classes of its errors. Only its type is used: `Failures` encodes the errors.
 *
 * @since 0.1.0
 * @category schemas
 */
export const failures = <Classes extends ReadonlyArray<new(...args: never) => unknown>>(
  ...classes: Classes
): Schema.Schema<InstanceType<Classes[number]>> =>
  Schema.declare((error: unknown): error is InstanceType<Classes[number]> => classes.some((known) => error instanceof known))
