/**
 * The interface as the sandbox serves it: the groups of the contract and the assumed ones under their base path, each behind
 * `Admission`, with responses that keep the fields which the contract doesn't have.
 *
 * @since 0.1.0
 */
import * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import { onWire } from "@plaza/domain/Errors"
import { ChatGroup, MediaGroup, PostsGroup, ProfilesGroup, StoreGroup, StoriesGroup } from "@plaza/domain/PlazaApi"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import { AssumedChatGroup, AssumedPostsGroup, AssumedStoreGroup } from "../AssumedApi.js"
import { jsonType } from "./Envelope.js"
import { bodySchema } from "./Operation.js"
import { RequiresAdmission } from "./RequiresAdmission.js"

/**
 * Where the interface begins; the base address of a sandbox ends with it.
 *
 * @since 0.1.0
 * @category constants
 */
export const basePath = "/open/v1"

/** What becomes of fields of a response that the contract doesn't have. Clients ignore them. */
type FurtherFields = "preserve" | "ignore"

/**
 * The schema of a response body. A value that isn't one of the contract's is a defect of its handler: the platform would
 * take a failure to encode for a failure to decode the request, and answer 400.
 *
 * @since 0.1.0
 * @category schemas
 */
export const responseBody = <A, I>(schema: Schema.Schema<A, I>, furtherFields: FurtherFields): Schema.Schema<unknown, unknown> => {
  // Compiled when it is needed, since all of them together take 10 ms and more.
  let encode: ((value: unknown) => unknown) | undefined
  return Schema.transformOrFail(Schema.Unknown, Schema.declare((value: unknown): value is unknown => value !== undefined), {
    strict: true,
    decode: (value, _, ast) => ParseResult.fail(new ParseResult.Forbidden(ast, value, "a response is only written")),
    encode: (value) => ParseResult.succeed((encode ??= Schema.encodeUnknownSync(schema, { onExcessProperty: furtherFields }))(value))
  }).pipe(HttpApiSchema.withEncoding({ kind: "Json", contentType: jsonType }))
}

/** A copy with other fields, made as the platform makes its own. */
const copy = <A extends object>(value: A, fields: { readonly [Name in keyof A]?: unknown }): A => {
  // It has the prototype and, one line below, all properties of the value.
  const made = Object.create(Reflect.getPrototypeOf(value)) as A
  return Object.assign(made, value, fields)
}

/**
 * The same group, whose handlers' values leave as {@link responseBody} says. Its errors are written by `Failures`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const served = <Group extends HttpApiGroup.HttpApiGroup.Any>(group: Group, furtherFields: FurtherFields): Group => {
  // Every group is one of these; the type only leaves out what its endpoints are.
  const known = group as unknown as HttpApiGroup.HttpApiGroup.AnyWithProps
  const endpoints = Record.map(known.endpoints, (endpoint) =>
    copy(endpoint, {
      errorSchema: Schema.Never,
      successSchema: Option.match(bodySchema(endpoint.successSchema), {
        onNone: () => HttpApiSchema.NoContent,
        onSome: (schema) => Schema.Union(responseBody(schema, furtherFields), HttpApiSchema.NoContent)
      })
    }))
  // Paths, parameters and payloads are the group's own, and what a handler gives is written by the group's own schemas.
  return copy(known, { endpoints, errorSchema: Schema.Never }) as unknown as Group
}

/**
 * The document's operations.
 *
 * @since 0.1.0
 * @category api
 */
export class ServedApi extends HttpApi.make("plaza")
  .add(served(ProfilesGroup.middleware(RequiresAdmission), "preserve"))
  .add(served(MediaGroup.middleware(RequiresAdmission), "preserve"))
  .add(served(PostsGroup.middleware(RequiresAdmission), "preserve"))
  .add(served(StoriesGroup.middleware(RequiresAdmission), "preserve"))
  .add(served(StoreGroup.middleware(RequiresAdmission), "preserve"))
  .add(served(ChatGroup.middleware(RequiresAdmission), "preserve"))
  .addError(onWire("FORBIDDEN"))
  .prefix(basePath)
{}

/**
 * What the document names without showing it.
 *
 * @since 0.1.0
 * @category api
 */
export class ServedAssumedApi extends HttpApi.make("assumed")
  .add(served(AssumedPostsGroup.middleware(RequiresAdmission), "preserve"))
  .add(served(AssumedStoreGroup.middleware(RequiresAdmission), "preserve"))
  .add(served(AssumedChatGroup.middleware(RequiresAdmission), "preserve"))
  .addError(onWire("FORBIDDEN"))
  .prefix(basePath)
{}
