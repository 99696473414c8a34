/**
 * The part of the control API that seeds the sandbox: the operations of `Seeding` over HTTP.
 *
 * @since 0.1.0
 */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { errorResponse } from "@plaza-legacy/domain/ErrorSchema"
import { ConversationId, OrderId, PostId, ProductId, ProfileId, Username } from "@plaza-legacy/domain/Ids"
import * as PathSegment from "@plaza-legacy/domain/PathSegment"
import * as Schema from "effect/Schema"
import { AccessRequest } from "../access/AccessRequests.ts"
import { Fixtures } from "../seeding/Fixtures.ts"
import * as Models from "../seeding/SeedingModels.ts"
import { described } from "./Described.ts"

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
    HttpApiEndpoint.post("createAccount", "/accounts").annotateContext(
      described("Create an account", "Creates an account, by default with photo, cover and granted access.")
    )
      .setPayload(Models.NewAccount)
      .addSuccess(Schema.Struct({ id: ProfileId, username: Username }))
  )
  .add(
    HttpApiEndpoint.patch("setProfile", "/accounts/:id").annotateContext(
      described("Change a profile", "Changes photo, cover and availability of an account.")
    )
      .setPath(byId)
      .setPayload(Models.ProfileChange)
      .addSuccess(HttpApiSchema.NoContent)
  )
  .add(
    HttpApiEndpoint.post("setAccess", "/accounts/:id/access").annotateContext(
      described("Change developer access",
        "Grants, suspends, revokes or restores the developer access of an account, as the operator does.")
    )
      .setPath(byId)
      .setPayload(Models.AccessChange)
      .addSuccess(HttpApiSchema.NoContent)
  )
  .add(
    HttpApiEndpoint.post("requestAccess", "/accounts/:id/access-requests").annotateContext(
      described("Request developer access", "Requests developer access for an account.")
    )
      .setPath(byId)
      .setPayload(Models.NewAccessRequest)
      .addSuccess(AccessRequest)
  )
  .add(
    HttpApiEndpoint.get("listAccessRequests", "/access-requests").annotateContext(
      described("List access requests", "Returns all access requests, newest first.")
    ).addSuccess(listOf(AccessRequest))
  )
  .add(
    HttpApiEndpoint.post("decideAccess", "/access-requests/:id/decision").annotateContext(
      described("Decide on an access request", "Approves or declines a pending access request, as the operator does.")
    )
      .setPath(byId)
      .setPayload(Models.AccessDecision)
      .addSuccess(AccessRequest)
  )
  .add(
    HttpApiEndpoint.post("createKey", "/accounts/:id/keys").annotateContext(
      described("Create a key", "Creates a key of an account. Only this response has its value.")
    )
      .setPath(byId)
      .setPayload(Models.NewKey)
      .addSuccess(CreatedKey)
  )
  .add(
    HttpApiEndpoint.post("revokeKey", "/keys/:id/revoke").annotateContext(described("Revoke a key", "Revokes a key by its id."))
      .setPath(byId)
      .addSuccess(HttpApiSchema.NoContent)
  )
  .add(
    HttpApiEndpoint.patch("setRelation", "/relations").annotateContext(
      described("Change a relation", "Changes the relation of one account to another. Omitted fields keep their value.")
    )
      .setPayload(Models.RelationChange)
      .addSuccess(HttpApiSchema.NoContent)
  )
  .add(
    HttpApiEndpoint.post("createPost", "/posts").annotateContext(
      described("Create a post of any account", "Creates a post of any account, at any time.")
    ).setPayload(Models.NewPost).addSuccess(created(PostId))
  )
  .add(
    HttpApiEndpoint.put("setProduct", "/products").annotateContext(
      described("Create or replace a product", "Creates a product of a store, or replaces the one with this id.")
    ).setPayload(Models.NewProduct).addSuccess(created(ProductId))
  )
  .add(
    HttpApiEndpoint.put("setOrder", "/orders").annotateContext(
      described("Create or replace an order", "Creates an order of a store, or replaces the one with this id.")
    ).setPayload(Models.NewOrder).addSuccess(created(OrderId))
  )
  .add(
    HttpApiEndpoint.post("createConversation", "/conversations").annotateContext(
      described("Create a conversation", "Creates a conversation of two accounts.")
    )
      .setPayload(Models.NewConversation)
      .addSuccess(created(ConversationId))
  )
  .add(
    HttpApiEndpoint.post("addFixtures", "/fixtures").annotateContext(
      described("Add fixtures", "Adds fixtures to the data: all of them or, if one fails, none.")
    ).setPayload(Fixtures).addSuccess(HttpApiSchema.NoContent)
  )
  .addError(errorResponse("FORBIDDEN"))
  .addError(errorResponse("INTERNAL_ERROR"))
  .addError(errorResponse("INVALID_JSON"))
  .addError(errorResponse("VALIDATION_ERROR"))
  .addError(errorResponse("PAYLOAD_TOO_LARGE"))
  .addError(errorResponse("NOT_FOUND"))
  .addError(errorResponse("CONFLICT"))
  .prefix("/sandbox")
  .annotate(OpenApi.Description, "Creates accounts, keys, relations and content")
{}
