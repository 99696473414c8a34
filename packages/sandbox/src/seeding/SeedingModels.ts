/**
 * Schemas of the seeding operations, for the control API and for fixture files. `accountId` defaults to the seeded
 * shop.
 */
import { AccessState, AccessTransition } from "@plaza/domain/DeveloperAccess"
import { Timestamp } from "@plaza/domain/Resources"
import * as Schema from "effect/Schema"
import { AccessForm } from "../access/AccessRequests.ts"
import { Availability } from "../access/AccountsRepo.ts"
import { oneOf, optional } from "../Validation.ts"

export const NewAccount = Schema.Struct({
  /** Default: the next free number. */
  id: optional(Schema.String),
  /** Default: derived from the id. */
  username: optional(Schema.String),
  /** Default: the username. */
  name: optional(Schema.String),
  /** Default: true. */
  photo: optional(Schema.Boolean),
  /** Default: true. */
  cover: optional(Schema.Boolean),
  /** Default: `granted`. */
  access: optional(oneOf(AccessState.literals)),
  /** Default: `available`. */
  availability: optional(oneOf(Availability.literals))
}).annotate({ identifier: "NewAccount" })
export type NewAccount = typeof NewAccount.Type

/** A change of an account. Omitted fields keep their value. */
export const ProfileChange = Schema.Struct({
  photo: optional(Schema.Boolean),
  cover: optional(Schema.Boolean),
  availability: optional(oneOf(Availability.literals))
}).annotate({ identifier: "ProfileChange" })
export type ProfileChange = typeof ProfileChange.Type

export const AccessChange = Schema.Struct({ move: oneOf(AccessTransition.literals) }).annotate({ identifier: "AccessChange" })

export const AccessDecision = Schema.Struct({ decision: oneOf(["approve", "decline"]) })
  .annotate({ identifier: "AccessDecision" })

export const NewAccessRequest = Schema.Struct(AccessForm.fields).annotate({ identifier: "NewAccessRequest" })

export const ClockMove = Schema.Struct({
  /** How far to advance. The clock checks the limits. */
  millis: Schema.Finite
}).annotate({ identifier: "ClockMove" })

export const NewKey = Schema.Struct({
  /** Default: the key's id. */
  name: optional(Schema.String),
  /** Default: all. */
  scopes: optional(Schema.Array(Schema.String))
}).annotate({ identifier: "NewKey" })
export type NewKey = typeof NewKey.Type

const relation = {
  follows: optional(Schema.Boolean),
  blocks: optional(Schema.Boolean),
  /** Whether the first account has written to the second. */
  hasWritten: optional(Schema.Boolean),
  /** Whether the store of the first account has blocked the second. */
  blocksFromStore: optional(Schema.Boolean)
}

/** The relation of the first account to the second. Omitted fields keep their value. */
export const RelationChange = Schema.Struct({ from: Schema.String, to: Schema.String, ...relation })
  .annotate({ identifier: "RelationChange" })

export const NewPost = Schema.Struct({
  accountId: optional(Schema.String),
  text: Schema.String,
  mediaIds: optional(Schema.Array(Schema.String)),
  /** Default: now. */
  createdAt: optional(Timestamp)
}).annotate({ identifier: "NewPost" })
export type NewPost = typeof NewPost.Type

export const NewProduct = Schema.Struct({
  id: Schema.String,
  accountId: optional(Schema.String),
  /** Default: the id. */
  name: optional(Schema.String),
  /** Default: 0. */
  stock: optional(Schema.Finite)
}).annotate({ identifier: "NewProduct" })
export type NewProduct = typeof NewProduct.Type

export const NewOrder = Schema.Struct({
  id: Schema.String,
  accountId: optional(Schema.String),
  /** Default: not shipped. */
  shipment: optional(Schema.Struct({ carrier: Schema.String, trackingNumber: Schema.String }))
}).annotate({ identifier: "NewOrder" })
export type NewOrder = typeof NewOrder.Type

export const NewConversation = Schema.Struct({
  accountId: optional(Schema.String),
  /** The other account. */
  peerId: Schema.String,
  /** The messages, oldest first. An account that received a message may reply. */
  messages: optional(Schema.Array(Schema.Struct({
    text: Schema.String,
    /** Whether the account wrote it (default: its peer did). */
    isOwn: optional(Schema.Boolean)
  })))
}).annotate({ identifier: "NewConversation" })
export type NewConversation = typeof NewConversation.Type
