/**
 * Inserts fixtures: generated items first, then single ones, in one transaction.
 *
 * @since 0.1.0
 */
import { Conflict, NotFound, ValidationError } from "@plaza-legacy/domain/Errors"
import * as Effect from "effect/Effect"
import type { PostsPolicy } from "../areas/posts/PostsPolicy.ts"
import * as ProfilesSeeding from "../areas/profiles/ProfilesSeeding.ts"
import * as StoreSeeding from "../areas/store/StoreSeeding.ts"
import type { CurrentAssumptions } from "../Assumptions.ts"
import type { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import type { Repos } from "../Repos.ts"
import { Sql } from "../storage/Sql.ts"
import * as ContentSeeding from "./ContentSeeding.ts"
import type { Fixtures } from "./Fixtures.ts"
import * as Generate from "./GenerateFixtures.ts"

/**
 * Why an item can't be seeded.
 *
 * @since 0.1.0
 * @category errors
 */
export type SeedingError = NotFound | Conflict | ValidationError

/** Prefixes the field of an error with the path of its item in the fixtures. */
const withPath = (path: string) => (error: SeedingError): SeedingError => {
  const { details, message } = error
  const field = details["field"]
  const fields = { message, details: { ...details, field: typeof field === "string" ? `${path}.${field}` : path } }
  switch (error._tag) {
    case "NotFound":
      return new NotFound(fields)
    case "Conflict":
      return new Conflict(fields)
    case "ValidationError":
      return new ValidationError(fields)
  }
}

type Services = Sql | Repos | PostsPolicy | CurrentAssumptions | CurrentLatitude

const each = <A>(list: string, items: ReadonlyArray<A> = [], insert: (item: A) => Effect.Effect<unknown, SeedingError>) =>
  Effect.forEach(items, (item, index) => Effect.mapError(insert(item), withPath(`${list}.${index}`)), { discard: true })

const insertAll = (fixtures: Fixtures, seed: number): Effect.Effect<void, SeedingError, Services> =>
  Effect.gen(function*() {
    const { withTransaction } = yield* Sql
    const generate = yield* Generate.make
    const { createAccount, setRelation } = yield* ProfilesSeeding.make
    const { setOrder, setProduct } = yield* StoreSeeding.make
    const { createConversation, createPost } = yield* ContentSeeding.make
    yield* withTransaction(Effect.gen(function*() {
      yield* generate(fixtures.generate ?? {}, seed)
      yield* each("accounts", fixtures.accounts, createAccount)
      yield* each("relations", fixtures.relations, ({ from, to, ...relation }) => setRelation(from, to, relation))
      yield* each("posts", fixtures.posts, createPost)
      yield* each("products", fixtures.products, setProduct)
      yield* each("orders", fixtures.orders, setOrder)
      yield* each("conversations", fixtures.conversations, createConversation)
    }))
  })

/**
 * Inserts fixtures, all of them or none.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<
  (fixtures: Fixtures, seed: number) => Effect.Effect<void, SeedingError>,
  never,
  Services
> = Effect.map(Effect.context<Services>(), (services) => (fixtures, seed) => Effect.provide(insertAll(fixtures, seed), services))
