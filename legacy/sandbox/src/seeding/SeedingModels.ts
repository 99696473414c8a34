/**
 * Schemas of the seeding operations, for the control API and for fixture files. `accountId` defaults to the seeded
 * shop.
 *
 * @since 0.1.0
 */
import { AccessState, AccessTransition } from "@plaza-legacy/domain/DeveloperAccess"
import { Timestamp } from "@plaza-legacy/domain/Resources"
import * as Schema from "effect/Schema"
import { AccessForm } from "../access/AccessRequests.ts"
import { Availability } from "../access/Availability.ts"
import { allowedValues } from "../AllowedValues.ts"
import { optional } from "../OptionalField.ts"

/** Rejects unknown fields, which are usually misspelt. */
const strict = (identifier: string) => ({ identifier, parseOptions: { onExcessProperty: "error" } }) as const

/** @since 0.1.0 @category models */
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
  access: optional(allowedValues(AccessState)),
  /** Default: `available`. */
  availability: optional(allowedValues(Availability))
}).annotations(strict("NewAccount"))
/** @since 0.1.0 @category models */
export type NewAccount = typeof NewAccount.Type

/**
 * A change of an account. Omitted fields keep their value.
 *
 * @since 0.1.0
 * @category models
 */
export const ProfileChange = Schema.Struct({
  photo: optional(Schema.Boolean),
  cover: optional(Schema.Boolean),
  availability: optional(allowedValues(Availability))
}).annotations(strict("ProfileChange"))
/** @since 0.1.0 @category models */
export type ProfileChange = typeof ProfileChange.Type

/** @since 0.1.0 @category models */
export const AccessChange = Schema.Struct({ move: allowedValues(AccessTransition) }).annotations(strict("AccessChange"))

const Decision = Schema.Literal("approve", "decline")

/** @since 0.1.0 @category models */
export const AccessDecision = Schema.Struct({ decision: allowedValues(Decision) })
  .annotations(strict("AccessDecision"))

/** @since 0.1.0 @category models */
export const NewAccessRequest = Schema.Struct(AccessForm.fields).annotations(strict("NewAccessRequest"))

/** @since 0.1.0 @category models */
export const ClockMove = Schema.Struct({
  /** How far to advance. The clock checks the limits. */
  millis: Schema.Number
}).annotations(strict("ClockMove"))

/** @since 0.1.0 @category models */
export const NewKey = Schema.Struct({
  /** Default: the key's id. */
  name: optional(Schema.String),
  /** Default: all. */
  scopes: optional(Schema.Array(Schema.String))
}).annotations(strict("NewKey"))
/** @since 0.1.0 @category models */
export type NewKey = typeof NewKey.Type

const relation = {
  follows: optional(Schema.Boolean),
  blocks: optional(Schema.Boolean),
  /** Whether the first account has written to the second. */
  hasWritten: optional(Schema.Boolean),
  /** Whether the store of the first account has blocked the second. */
  blocksFromStore: optional(Schema.Boolean)
}

/**
 * The relation of the first account to the second. Omitted fields keep their value.
 *
 * @since 0.1.0
 * @category models
 */
export const RelationChange = Schema.Struct({ from: Schema.String, to: Schema.String, ...relation })
  .annotations(strict("RelationChange"))

/** @since 0.1.0 @category models */
export const NewPost = Schema.Struct({
  accountId: optional(Schema.String),
  text: Schema.String,
  mediaIds: optional(Schema.Array(Schema.String)),
  /** Default: now. */
  createdAt: optional(Timestamp)
}).annotations(strict("NewPost"))
/** @since 0.1.0 @category models */
export type NewPost = typeof NewPost.Type

/** @since 0.1.0 @category models */
export const NewProduct = Schema.Struct({
  id: Schema.String,
  accountId: optional(Schema.String),
  /** Default: the id. */
  name: optional(Schema.String),
  /** Default: 0. */
  stock: optional(Schema.Number)
}).annotations(strict("NewProduct"))
/** @since 0.1.0 @category models */
export type NewProduct = typeof NewProduct.Type

/** @since 0.1.0 @category models */
export const NewOrder = Schema.Struct({
  id: Schema.String,
  accountId: optional(Schema.String),
  /** Default: not shipped. */
  shipment: optional(Schema.Struct({ carrier: Schema.String, trackingNumber: Schema.String }))
}).annotations(strict("NewOrder"))
/** @since 0.1.0 @category models */
export type NewOrder = typeof NewOrder.Type

/** @since 0.1.0 @category models */
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
}).annotations(strict("NewConversation"))
/** @since 0.1.0 @category models */
export type NewConversation = typeof NewConversation.Type
