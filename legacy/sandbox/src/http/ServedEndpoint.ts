/**
 * An endpoint as the sandbox serves it, and the encoding of its results, which may have fields that the contract doesn't have.
 *
 * @since 0.1.0
 */
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import { constUndefined } from "effect/Function"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { onFirstUse } from "../OnFirstUse.ts"
import { bodySchema } from "./Operation.ts"

/**
 * Whether a response keeps fields that the contract doesn't have. Clients ignore them.
 *
 * @since 0.1.0
 * @category models
 */
export type FurtherFields = "preserve" | "ignore"

/**
 * Encodes the results of a handler as JSON by the success schema of its endpoint; a result without a body stays undefined. The
 * encoder throws if a result does not match the contract.
 *
 * @since 0.1.0
 * @category schemas
 */
export const encoder = (
  success: Schema.Schema.All,
  furtherFields: FurtherFields
): (result: unknown) => unknown => {
  // Compiled on first use, because all schemas together take 10 ms or more.
  const encode = onFirstUse((): (result: unknown) => unknown =>
    Option.match(bodySchema(success), {
      onNone: () => constUndefined,
      onSome: (schema) => Schema.encodeUnknownSync(schema, { onExcessProperty: furtherFields })
    })
  )
  return (result) => result === undefined ? undefined : encode(result)
}

/**
 * The same endpoint at another path. It has neither the schema of its success nor those of its errors, because `Endpoints` and
 * `Failures` encode these.
 *
 * @since 0.1.0
 * @category constructors
 */
export const served = (
  endpoint: HttpApiEndpoint.HttpApiEndpoint.AnyWithProps,
  path: `/${string}`
): HttpApiEndpoint.HttpApiEndpoint.AnyWithProps => {
  const fields = { path, errorSchema: Schema.Never, successSchema: HttpApiSchema.NoContent }
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
