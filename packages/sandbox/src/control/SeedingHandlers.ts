/**
 * Handlers of `SeedingGroup`.
 *
 * @since 0.1.0
 */
import type { Conflict, NotFound, ValidationError } from "@plaza/domain/Errors"
import * as Effect from "effect/Effect"
import { AccessRequests } from "../access/AccessRequests.js"
import type { HandlersOfGroup } from "../http/Dispatch.js"
import { Seeding } from "../seeding/Seeding.js"
import type { SeedingGroup } from "./SeedingApi.js"

const asId = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<{ readonly id: A }, E> =>
  Effect.map(effect, (id) => ({ id }))

/** @since 0.1.0 @category handlers */
export const handlers: Effect.Effect<
  HandlersOfGroup<typeof SeedingGroup, NotFound | Conflict | ValidationError, null>,
  never,
  Seeding | AccessRequests
> = Effect.gen(function*() {
  const { operations } = yield* Seeding
  const requests = yield* AccessRequests
  return {
    createAccount: ({ payload }) => operations.createAccount(payload),
    setProfile: ({ path, payload }) => operations.setProfile(path.id, payload),
    setAccess: ({ path, payload }) => operations.setAccess(path.id, payload.move),
    requestAccess: ({ path, payload }) => operations.requestAccess(path.id, payload),
    listAccessRequests: () => Effect.map(requests.list(), (data) => ({ data })),
    decideAccess: ({ path, payload }) => operations.decideAccess(path.id, payload.decision),
    createKey: ({ path, payload }) => operations.createKey(path.id, payload),
    revokeKey: ({ path }) => operations.revokeKey(path.id),
    setRelation: ({ payload: { from, to, ...relation } }) => operations.setRelation(from, to, relation),
    createPost: ({ payload }) => asId(operations.createPost(payload)),
    setProduct: ({ payload }) => asId(operations.setProduct(payload)),
    setOrder: ({ payload }) => asId(operations.setOrder(payload)),
    createConversation: ({ payload }) => asId(operations.createConversation(payload)),
    addFixtures: ({ payload }) => operations.addFixtures(payload)
  }
})
