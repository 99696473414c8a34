/**
 * What a new sandbox holds beside its seed, as a value: so many of each generated, and things that are told one by one.
 * Knows nothing of files or of how it is kept.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as Models from "./SeedingModels.js"

const optional = <S extends Schema.Schema.All>(schema: S) => Schema.optionalWith(schema, { exact: true })

/** A sandbox answers at this size too; beyond it, planting takes minutes and more memory than a test should. */
const most = 10_000_000
const quantity = optional(Schema.Int.pipe(Schema.between(0, most)))

/**
 * How many of each are generated, by the sandbox's seed (default: none).
 *
 * @since 0.1.0
 * @category models
 */
export const Quantities = Schema.Struct({
  /** Accounts, without keys. */
  people: quantity,
  /** Follows among these people and of the shop: at most each of them everyone else. */
  follows: quantity,
  /** Posts: every other one the shop's, the others of these people. All of them the shop's where there are no people. */
  posts: quantity,
  /** Products of the shop, one in ten sold out. */
  products: quantity,
  /** Orders of the shop, one in four shipped. */
  orders: quantity,
  /** Conversations of the shop, each with another of these people. One in five has no answer yet. */
  conversations: quantity
}).annotations({ identifier: "Quantities", parseOptions: { onExcessProperty: "error" } })
/** @since 0.1.0 @category models */
export type Quantities = typeof Quantities.Type

/**
 * Planted in the order in which they stand here, so that what is told can name what is generated.
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

const decodeUnknown = Schema.decodeUnknownEither(Fixtures)

/**
 * The way to a field as it is read: `products[3].stock`.
 *
 * @since 0.1.0
 * @category errors
 */
export const placeOf = (path: ReadonlyArray<PropertyKey>): string =>
  path.reduce<string>(
    (place, part) => /^\d+$/.test(String(part)) ? `${place}[${String(part)}]` : place === "" ? String(part) : `${place}.${String(part)}`,
    ""
  )

/**
 * Reads fixtures from plain data. What is wrong is told in one sentence that begins with the way to the field.
 *
 * @since 0.1.0
 * @category decoding
 */
export const decode = (data: unknown): Either.Either<Fixtures, string> =>
  Either.mapLeft(decodeUnknown(data), (error) => {
    const [issue] = ParseResult.ArrayFormatter.formatErrorSync(error)
    return `${placeOf(issue?.path ?? []) || "the whole"}: ${issue?.message ?? "is wrong"}`
  })

const Stored = Schema.parseJson(Fixtures)

/**
 * The form in which a database remembers what it was planted with.
 *
 * @since 0.1.0
 * @category storing
 */
export const store: (fixtures: Fixtures) => string = Schema.encodeSync(Stored)

/**
 * Reads what {@link store} wrote.
 *
 * @since 0.1.0
 * @category storing
 */
export const restore: (stored: string) => Fixtures = Schema.decodeSync(Stored)
