/**
 * Fixtures: data that a new sandbox holds in addition to its seed, as generated quantities and as single items.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { onFirstUse } from "../OnFirstUse.ts"
import { optional } from "../OptionalField.ts"
import * as Models from "./SeedingModels.ts"

/** A sandbox works at this size too. Beyond it, seeding takes minutes and much memory. */
const maxQuantity = 10_000_000
const quantity = optional(Schema.Int.pipe(Schema.between(0, maxQuantity)))

/**
 * How many items of each kind to generate from the sandbox's seed (default: 0).
 *
 * @since 0.1.0
 * @category models
 */
export const Quantities = Schema.Struct({
  /** Accounts, without keys. */
  people: quantity,
  /** Follows among these people and of the shop; at most the square of `people`. */
  follows: quantity,
  /** Posts, half of them by the shop and half by these people. Without people, all by the shop. */
  posts: quantity,
  /** Products of the shop, one in ten sold out. */
  products: quantity,
  /** Orders of the shop, one in four shipped. */
  orders: quantity,
  /** Conversations of the shop, each with a different one of these people; one in five has no reply. */
  conversations: quantity
}).annotations({ identifier: "Quantities", parseOptions: { onExcessProperty: "error" } })
/** @since 0.1.0 @category models */
export type Quantities = typeof Quantities.Type

/**
 * Data to seed. Items are inserted in the order of these fields, so later ones can refer to earlier and generated ones.
 *
 * @since 0.1.0
 * @category models
 */
export const Fixtures = Schema.Struct({
  generate: optional(Quantities),
  accounts: optional(Schema.Array(Models.NewAccount)),
  relations: optional(Schema.Array(Models.RelationChange)),
  posts: optional(Schema.Array(Models.NewPost)),
  products: optional(Schema.Array(Models.NewProduct)),
  orders: optional(Schema.Array(Models.NewOrder)),
  conversations: optional(Schema.Array(Models.NewConversation))
}).annotations({ identifier: "Fixtures", parseOptions: { onExcessProperty: "error" } })
/** @since 0.1.0 @category models */
export type Fixtures = typeof Fixtures.Type

const decodeUnknown = onFirstUse(() => Schema.decodeUnknownEither(Fixtures))

/**
 * Formats the path of a field: `products[3].stock`.
 *
 * @since 0.1.0
 * @category errors
 */
export const fieldPath = (path: ReadonlyArray<PropertyKey>): string =>
  path.reduce<string>(
    (prefix, part) =>
      /^\d+$/.test(String(part)) ? `${prefix}[${String(part)}]` : prefix === "" ? String(part) : `${prefix}.${String(part)}`,
    ""
  )

/**
 * Decodes fixtures from plain data. The error is one sentence that starts with the path of the field.
 *
 * @since 0.1.0
 * @category decoding
 */
export const decode = (data: unknown): Either.Either<Fixtures, string> =>
  Either.mapLeft(decodeUnknown(data), (error) => {
    const [issue] = ParseResult.ArrayFormatter.formatErrorSync(error)
    return `${fieldPath(issue?.path ?? []) || "the file"}: ${issue?.message ?? "is wrong"}`
  })

const Json = Schema.parseJson(Fixtures)

/**
 * Encodes fixtures as JSON, for the database.
 *
 * @since 0.1.0
 * @category encoding
 */
export const encodeJson: (fixtures: Fixtures) => string = Schema.encodeSync(Json)

/**
 * Decodes the JSON of {@link encodeJson}.
 *
 * @since 0.1.0
 * @category decoding
 */
export const decodeJson: (json: string) => Fixtures = Schema.decodeSync(Json)
