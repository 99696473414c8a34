/** The part of the control API that seeds the sandbox: the operations of `Seeding` over HTTP. */
import type { ErrorCode } from "@plaza/domain/Errors"
import { ConversationId, OrderId, PostId, ProductId, ProfileId, Username } from "@plaza/domain/Ids"
import { inPath } from "@plaza/domain/PathSegment"
import { errorResponse } from "@plaza/domain/PlazaApi"
import * as Context from "effect/Context"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { AccessRequest } from "../access/AccessRequests.ts"
import { Fixtures } from "../seeding/Fixtures.ts"
import * as Models from "../seeding/SeedingModels.ts"

const codes = [
  "FORBIDDEN",
  "INTERNAL_ERROR",
  "INVALID_JSON",
  "VALIDATION_ERROR",
  "PAYLOAD_TOO_LARGE",
  "NOT_FOUND",
  "CONFLICT"
] as const satisfies ReadonlyArray<ErrorCode>

const error = codes.map((code) => errorResponse<(typeof codes)[number]>(code))

const described = (summary: string, description: string): Context.Context<OpenApi.Summary | OpenApi.Description> =>
  Context.make(OpenApi.Summary, summary).pipe(Context.add(OpenApi.Description, description))

const params = { id: inPath(Schema.String) }

const created = <S extends Schema.Top>(id: S) => Schema.Struct({ id })
const listOf = <S extends Schema.Top>(item: S) => Schema.Struct({ data: Schema.Array(item) })

/** A new key. This is the only response with its value. */
const CreatedKey = Schema.Struct({ id: Schema.String, apiKey: Schema.RedactedFromValue(Schema.String) })

/** The endpoints that seed the sandbox. */
export class SeedingGroup extends HttpApiGroup.make("seeding")
  .add(
    HttpApiEndpoint.post("createAccount", "/accounts", {
      disableCodecs: true,
      payload: Models.NewAccount,
      success: Schema.Struct({ id: ProfileId, username: Username }),
      error
    }).annotateMerge(described("Create an account", "Creates an account, by default with photo, cover and granted access.")),
    HttpApiEndpoint.patch("setProfile", "/accounts/:id", {
      disableCodecs: true,
      params,
      payload: Models.ProfileChange,
      success: HttpApiSchema.NoContent,
      error
    }).annotateMerge(described("Change a profile", "Changes photo, cover and availability of an account.")),
    HttpApiEndpoint.post("setAccess", "/accounts/:id/access", {
      disableCodecs: true,
      params,
      payload: Models.AccessChange,
      success: HttpApiSchema.NoContent,
      error
    }).annotateMerge(
      described("Change developer access",
        "Grants, suspends, revokes or restores the developer access of an account, as the operator does.")
    ),
    HttpApiEndpoint.post("requestAccess", "/accounts/:id/access-requests", {
      disableCodecs: true,
      params,
      payload: Models.NewAccessRequest,
      success: AccessRequest,
      error
    }).annotateMerge(
      described("Request developer access", "Requests developer access for an account. The request stays pending until a decision.")
    ),
    HttpApiEndpoint.get("listAccessRequests", "/access-requests", { disableCodecs: true, success: listOf(AccessRequest), error })
      .annotateMerge(described("List access requests", "Returns all access requests, newest first.")),
    HttpApiEndpoint.post("decideAccess", "/access-requests/:id/decision", {
      disableCodecs: true,
      params,
      payload: Models.AccessDecision,
      success: AccessRequest,
      error
    }).annotateMerge(described("Decide on an access request", "Approves or declines a pending access request, as the operator does.")),
    HttpApiEndpoint.post("createKey", "/accounts/:id/keys", {
      disableCodecs: true,
      params,
      payload: Models.NewKey,
      success: CreatedKey,
      error
    }).annotateMerge(described("Create a key", "Creates a key, by default with all scopes. Only this response has its value.")),
    HttpApiEndpoint.post("revokeKey", "/keys/:id/revoke", { disableCodecs: true, params, success: HttpApiSchema.NoContent, error })
      .annotateMerge(described("Revoke a key", "Revokes a key by its id.")),
    HttpApiEndpoint.patch("setRelation", "/relations", {
      disableCodecs: true,
      payload: Models.RelationChange,
      success: HttpApiSchema.NoContent,
      error
    }).annotateMerge(described("Change a relation", "Changes the relation of one account to another. Omitted fields keep their value.")),
    HttpApiEndpoint.post("createPost", "/posts", { disableCodecs: true, payload: Models.NewPost, success: created(PostId), error })
      .annotateMerge(described("Create a post of any account", "Creates a post, by default of the seeded shop and now.")),
    HttpApiEndpoint.put("setProduct", "/products", { disableCodecs: true, payload: Models.NewProduct, success: created(ProductId), error })
      .annotateMerge(described("Create or replace a product", "Creates a product of a store, or replaces the one with this id.")),
    HttpApiEndpoint.put("setOrder", "/orders", { disableCodecs: true, payload: Models.NewOrder, success: created(OrderId), error })
      .annotateMerge(
        described("Create or replace an order",
          "Creates an order, or replaces the one with this id. `shipment` has `carrier` and `trackingNumber` (default: not shipped).")
      ),
    HttpApiEndpoint.post("createConversation", "/conversations", {
      disableCodecs: true,
      payload: Models.NewConversation,
      success: created(ConversationId),
      error
    }).annotateMerge(
      described("Create a conversation", "Creates a conversation of `accountId` with `peerId`. Each of `messages` has `text` and `isOwn`.")
    ),
    HttpApiEndpoint.post("addFixtures", "/fixtures", {
      disableCodecs: true,
      payload: Fixtures,
      success: HttpApiSchema.NoContent,
      error
    }).annotateMerge(described("Add fixtures", "Adds all fixtures or, if one is invalid, none."))
  )
  .annotate(OpenApi.Description, "Creates accounts, keys, relations and content")
{}
