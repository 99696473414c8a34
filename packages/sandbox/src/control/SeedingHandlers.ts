/**
 * Handlers of `SeedingGroup`.
 *
 * @since 0.1.0
 */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { AccessRequests } from "../access/AccessRequests.js"
import { uninterruptible } from "../http/RequiresAdmission.js"
import { Seeding } from "../seeding/Seeding.js"
import { ServedControlApi } from "./ServedControlApi.js"

const asId = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<{ readonly id: A }, E> => Effect.map(effect, (id) => ({ id }))

/** @since 0.1.0 @category layers */
export const layer = HttpApiBuilder.group(ServedControlApi, "seeding", (handlers) =>
  Effect.gen(function*() {
    const { operations } = yield* Seeding
    const requests = yield* AccessRequests
    return handlers
      .handle("createAccount", ({ payload }) => operations.createAccount(payload), uninterruptible)
      .handle("setProfile", ({ path, payload }) => operations.setProfile(path.id, payload), uninterruptible)
      .handle("setAccess", ({ path, payload }) => operations.setAccess(path.id, payload.move), uninterruptible)
      .handle("requestAccess", ({ path, payload }) => operations.requestAccess(path.id, payload), uninterruptible)
      .handle("listAccessRequests", () => Effect.map(requests.list(), (data) => ({ data })), uninterruptible)
      .handle("decideAccess", ({ path, payload }) => operations.decideAccess(path.id, payload.decision), uninterruptible)
      .handle("createKey", ({ path, payload }) => operations.createKey(path.id, payload), uninterruptible)
      .handle("revokeKey", ({ path }) => operations.revokeKey(path.id), uninterruptible)
      .handle("setRelation", ({ payload: { from, to, ...relation } }) => operations.setRelation(from, to, relation), uninterruptible)
      .handle("createPost", ({ payload }) => asId(operations.createPost(payload)), uninterruptible)
      .handle("setProduct", ({ payload }) => asId(operations.setProduct(payload)), uninterruptible)
      .handle("setOrder", ({ payload }) => asId(operations.setOrder(payload)), uninterruptible)
      .handle("createConversation", ({ payload }) => asId(operations.createConversation(payload)), uninterruptible)
      .handle("addFixtures", ({ payload }) => operations.addFixtures(payload), uninterruptible)
  }))
