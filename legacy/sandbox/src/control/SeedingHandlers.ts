/**
 * Handlers of `SeedingGroup`.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { AccessRequests } from "../access/AccessRequests.ts"
import * as Endpoints from "../http/Endpoints.ts"
import { Seeding } from "../seeding/Seeding.ts"
import { SeedingGroup } from "./SeedingApi.ts"
import { servedControl } from "./ServedControlApi.ts"

const asId = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<{ readonly id: A }, E> => Effect.map(effect, (id) => ({ id }))

/** @since 0.1.0 @category handlers */
export const group = Endpoints.group(servedControl, SeedingGroup, (handlers) =>
  Effect.gen(function*() {
    const { operations } = yield* Seeding
    const requests = yield* AccessRequests
    return handlers
      .handle("createAccount", ({ payload }) => operations.createAccount(payload))
      .handle("setProfile", ({ path, payload }) => operations.setProfile(path.id, payload))
      .handle("setAccess", ({ path, payload }) => operations.setAccess(path.id, payload.move))
      .handle("requestAccess", ({ path, payload }) => operations.requestAccess(path.id, payload))
      .handle("listAccessRequests", () => Effect.map(requests.list(), (data) => ({ data })))
      .handle("decideAccess", ({ path, payload }) => operations.decideAccess(path.id, payload.decision))
      .handle("createKey", ({ path, payload }) => operations.createKey(path.id, payload))
      .handle("revokeKey", ({ path }) => operations.revokeKey(path.id))
      .handle("setRelation", ({ payload: { from, to, ...relation } }) => operations.setRelation(from, to, relation))
      .handle("createPost", ({ payload }) => asId(operations.createPost(payload)))
      .handle("setProduct", ({ payload }) => asId(operations.setProduct(payload)))
      .handle("setOrder", ({ payload }) => asId(operations.setOrder(payload)))
      .handle("createConversation", ({ payload }) => asId(operations.createConversation(payload)))
      .handle("addFixtures", ({ payload }) => operations.addFixtures(payload))
  }))
