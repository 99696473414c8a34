/**
 * The interface as the sandbox serves it: the groups of the contract and the assumed groups under the base path, each with
 * `Admission`. Responses may have fields that the contract doesn't have.
 *
 * @since 0.1.0
 */
import * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import { errorResponse } from "@plaza/domain/ErrorSchema"
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
 * The path of the interface. The base URL of a sandbox ends with it.
 *
 * @since 0.1.0
 * @category constants
 */
export const basePath = "/open/v1"

/** Whether a response keeps fields that the contract doesn't have. Clients ignore them. */
type FurtherFields = "preserve" | "ignore"

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

/** A copy with other fields. The platform copies its groups and endpoints in the same way. */
const copy = <A extends object>(value: A, fields: { readonly [Name in keyof A]?: unknown }): A => {
  // True because it gets the prototype here and all properties in the next line.
  const made = Object.create(Reflect.getPrototypeOf(value)) as A
  return Object.assign(made, value, fields)
}

/**
 * The same group with success schemas of {@link responseBody}. It has no error schema, because `Failures` encodes the errors.
 *
 * @since 0.1.0
 * @category constructors
 */
export const served = <Group extends HttpApiGroup.HttpApiGroup.Any>(group: Group, furtherFields: FurtherFields): Group => {
  // True of every group: `Any` is the same class without the type of its endpoints.
  const known = group as unknown as HttpApiGroup.HttpApiGroup.AnyWithProps
  const endpoints = Record.map(known.endpoints, (endpoint) =>
    copy(endpoint, {
      errorSchema: Schema.Never,
      successSchema: Option.match(bodySchema(endpoint.successSchema), {
        onNone: () => HttpApiSchema.NoContent,
        onSome: (schema) => Schema.Union(responseBody(schema, furtherFields), HttpApiSchema.NoContent)
      })
    }))
  // True because paths, parameters and payloads are unchanged, and the success schemas encode the same values as before.
  return copy(known, { endpoints, errorSchema: Schema.Never }) as unknown as Group
}

/**
 * The operations of the document.
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
  .addError(errorResponse("FORBIDDEN"))
  .prefix(basePath)
{}

/**
 * The assumed operations, which the document names but does not show.
 *
 * @since 0.1.0
 * @category api
 */
export class ServedAssumedApi extends HttpApi.make("assumed")
  .add(served(AssumedPostsGroup.middleware(RequiresAdmission), "preserve"))
  .add(served(AssumedStoreGroup.middleware(RequiresAdmission), "preserve"))
  .add(served(AssumedChatGroup.middleware(RequiresAdmission), "preserve"))
  .addError(errorResponse("FORBIDDEN"))
  .prefix(basePath)
{}
