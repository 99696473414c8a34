/**
 * The part of the control API that seeds the sandbox: the operations of `Seeding` over HTTP.
 *
 * @since 0.1.0
 */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import { errorResponse } from "@plaza/domain/Errors"
import { ConversationId, OrderId, PostId, ProductId, ProfileId, Username } from "@plaza/domain/Ids"
import * as PathSegment from "@plaza/domain/PathSegment"
import * as Schema from "effect/Schema"
import { AccessRequest } from "../access/AccessRequests.js"
import { Fixtures } from "../seeding/Fixtures.js"
import * as Models from "../seeding/SeedingModels.js"

/** Encodes the segment here, because a derived client puts parameters into the path unchanged. */
const Id = Schema.transform(Schema.String, PathSegment.inPath(Schema.String), {
  strict: true,
  // The router has decoded the segment.
  decode: (segment) => segment,
  encode: PathSegment.encode
})
const byId = Schema.Struct({ id: Id })

const created = <A extends string>(id: Schema.Schema<A, string>) => Schema.Struct({ id })
const listOf = <S extends Schema.Schema.Any>(item: S) => Schema.Struct({ data: Schema.Array(item) })

/** A new key. This is the only response with its value. */
const CreatedKey = Schema.Struct({ id: Schema.String, apiKey: Schema.Redacted(Schema.String) })

/**
 * The endpoints that seed the sandbox.
 *
 * @since 0.1.0
 * @category groups
 */
export class SeedingGroup extends HttpApiGroup.make("seeding")
  .add(
    HttpApiEndpoint.post("createAccount", "/accounts")
      .setPayload(Models.NewAccount)
      .addSuccess(Schema.Struct({ id: ProfileId, username: Username }))
  )
  .add(
    HttpApiEndpoint.patch("setProfile", "/accounts/:id")
      .setPath(byId)
      .setPayload(Models.ProfileChange)
      .addSuccess(HttpApiSchema.NoContent)
  )
  .add(
    HttpApiEndpoint.post("setAccess", "/accounts/:id/access")
      .setPath(byId)
      .setPayload(Models.AccessChange)
      .addSuccess(HttpApiSchema.NoContent)
  )
  .add(
    HttpApiEndpoint.post("requestAccess", "/accounts/:id/access-requests")
      .setPath(byId)
      .setPayload(Models.NewAccessRequest)
      .addSuccess(AccessRequest)
  )
  .add(HttpApiEndpoint.get("listAccessRequests", "/access-requests").addSuccess(listOf(AccessRequest)))
  .add(
    HttpApiEndpoint.post("decideAccess", "/access-requests/:id/decision")
      .setPath(byId)
      .setPayload(Models.AccessDecision)
      .addSuccess(AccessRequest)
  )
  .add(
    HttpApiEndpoint.post("createKey", "/accounts/:id/keys")
      .setPath(byId)
      .setPayload(Models.NewKey)
      .addSuccess(CreatedKey)
  )
  .add(
    HttpApiEndpoint.post("revokeKey", "/keys/:id/revoke")
      .setPath(byId)
      .addSuccess(HttpApiSchema.NoContent)
  )
  .add(
    HttpApiEndpoint.patch("setRelation", "/relations")
      .setPayload(Models.RelationChange)
      .addSuccess(HttpApiSchema.NoContent)
  )
  .add(HttpApiEndpoint.post("createPost", "/posts").setPayload(Models.NewPost).addSuccess(created(PostId)))
  .add(HttpApiEndpoint.put("setProduct", "/products").setPayload(Models.NewProduct).addSuccess(created(ProductId)))
  .add(HttpApiEndpoint.put("setOrder", "/orders").setPayload(Models.NewOrder).addSuccess(created(OrderId)))
  .add(
    HttpApiEndpoint.post("createConversation", "/conversations")
      .setPayload(Models.NewConversation)
      .addSuccess(created(ConversationId))
  )
  .add(HttpApiEndpoint.post("addFixtures", "/fixtures").setPayload(Fixtures).addSuccess(HttpApiSchema.NoContent))
  .addError(errorResponse("FORBIDDEN"))
  .addError(errorResponse("INTERNAL_ERROR"))
  .addError(errorResponse("INVALID_JSON"))
  .addError(errorResponse("VALIDATION_ERROR"))
  .addError(errorResponse("PAYLOAD_TOO_LARGE"))
  .addError(errorResponse("NOT_FOUND"))
  .addError(errorResponse("CONFLICT"))
  .prefix("/sandbox")
{}
