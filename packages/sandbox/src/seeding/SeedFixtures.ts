/**
 * Plants fixtures into a sandbox: what is generated, then what is told. All of it or nothing. Knows nothing of files.
 *
 * @since 0.1.0
 */
import { Conflict, NotFound, ValidationError } from "@plaza/domain/Errors"
import * as Effect from "effect/Effect"
import type { Accounts } from "../access/Accounts.js"
import type { Assumed } from "../Assumptions.js"
import type { Fixtures } from "./Fixtures.js"
import type { CurrentLatitude } from "../latitude/CurrentLatitude.js"
import * as People from "../areas/profiles/ProfilesSeeding.js"
import * as Shop from "../areas/store/StoreSeeding.js"
import * as Words from "./WritingSeeding.js"
import { Sql } from "../storage/Sql.js"
import * as Generate from "./GenerateFixtures.js"

/** @since 0.1.0 @category models */
export type Refusal = NotFound | Conflict | ValidationError

/** The same refusal, with the way from the root of the fixtures to the field, or to the thing, that it is about. */
const under = (place: string) => (refusal: Refusal): Refusal => {
  const { details, message } = refusal
  const inside = details["field"]
  const fields = { message, details: { ...details, field: typeof inside === "string" ? `${place}.${inside}` : place } }
  switch (refusal._tag) {
    case "NotFound":
      return new NotFound(fields)
    case "Conflict":
      return new Conflict(fields)
    case "ValidationError":
      return new ValidationError(fields)
  }
}

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<
  (fixtures: Fixtures, seed: number) => Effect.Effect<void, Refusal>,
  never,
  Sql | Accounts | Assumed | CurrentLatitude
> = Effect.gen(function*() {
  const sql = yield* Sql
  const generate = yield* Generate.make
  const { createAccount, setRelation } = yield* People.make
  const { setOrder, setProduct } = yield* Shop.make
  const { createConversation, createPost } = yield* Words.make

  const each = <A>(list: string, things: ReadonlyArray<A> = [], plant: (thing: A) => Effect.Effect<unknown, Refusal>) =>
    Effect.forEach(things, (thing, index) => Effect.mapError(plant(thing), under(`${list}.${index}`)), { discard: true })

  return (fixtures, seed) =>
    Effect.gen(function*() {
      yield* generate(fixtures.generate ?? {}, seed)
      yield* each("accounts", fixtures.accounts, createAccount)
      yield* each("relations", fixtures.relations, ({ from, to, ...relation }) => setRelation(from, to, relation))
      yield* each("posts", fixtures.posts, createPost)
      yield* each("products", fixtures.products, setProduct)
      yield* each("orders", fixtures.orders, setOrder)
      yield* each("conversations", fixtures.conversations, createConversation)
    }).pipe(sql.withTransaction)
})
