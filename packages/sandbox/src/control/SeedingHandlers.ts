/**
 * Answers the part of the control interface that sets the scene, with what `Setup` can do. Knows nothing of requests.
 *
 * @since 0.1.0
 */
import type { Conflict, NotFound, ValidationError } from "@plaza/domain/Errors"
import * as Effect from "effect/Effect"
import { AccessRequests } from "../access/AccessRequests.js"
import type { HandlersOfGroup } from "../http/Dispatch.js"
import { Setup } from "../seeding/Seeding.js"
import type { SceneGroup } from "./SeedingApi.js"

const asId = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<{ readonly id: A }, E> =>
  Effect.map(effect, (id) => ({ id }))

/** @since 0.1.0 @category handlers */
export const handlers: Effect.Effect<
  HandlersOfGroup<typeof SceneGroup, NotFound | Conflict | ValidationError, null>,
  never,
  Setup | AccessRequests
> = Effect.gen(function*() {
  const { calls } = yield* Setup
  const requests = yield* AccessRequests
  return {
    createAccount: ({ payload }) => calls.createAccount(payload),
    setProfile: ({ path, payload }) => calls.setProfile(path.id, payload),
    setAccess: ({ path, payload }) => calls.setAccess(path.id, payload.move),
    requestAccess: ({ path, payload }) => calls.requestAccess(path.id, payload),
    listAccessRequests: () => Effect.map(requests.list(), (data) => ({ data })),
    decideAccess: ({ path, payload }) => calls.decideAccess(path.id, payload.decision),
    createKey: ({ path, payload }) => calls.createKey(path.id, payload),
    revokeKey: ({ path }) => calls.revokeKey(path.id),
    setRelation: ({ payload: { from, to, ...relation } }) => calls.setRelation(from, to, relation),
    createPost: ({ payload }) => asId(calls.createPost(payload)),
    setProduct: ({ payload }) => asId(calls.setProduct(payload)),
    setOrder: ({ payload }) => asId(calls.setOrder(payload)),
    createConversation: ({ payload }) => asId(calls.createConversation(payload)),
    plant: ({ payload }) => calls.plant(payload)
  }
})
