/**
 * Handlers of `SeedingGroup`.
 *
 * @since 0.1.0
 */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { AccessRequests } from "../access/AccessRequests.js"
import { toItsEnd } from "../http/RequiresAdmission.js"
import { Seeding } from "../seeding/Seeding.js"
import { ServedControlApi } from "./ServedControlApi.js"

const asId = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<{ readonly id: A }, E> => Effect.map(effect, (id) => ({ id }))

/** @since 0.1.0 @category layers */
export const layer = HttpApiBuilder.group(ServedControlApi, "seeding", (handlers) =>
  Effect.gen(function*() {
    const { operations } = yield* Seeding
    const requests = yield* AccessRequests
    return handlers
      .handle("createAccount", ({ payload }) => operations.createAccount(payload), toItsEnd)
      .handle("setProfile", ({ path, payload }) => operations.setProfile(path.id, payload), toItsEnd)
      .handle("setAccess", ({ path, payload }) => operations.setAccess(path.id, payload.move), toItsEnd)
      .handle("requestAccess", ({ path, payload }) => operations.requestAccess(path.id, payload), toItsEnd)
      .handle("listAccessRequests", () => Effect.map(requests.list(), (data) => ({ data })), toItsEnd)
      .handle("decideAccess", ({ path, payload }) => operations.decideAccess(path.id, payload.decision), toItsEnd)
      .handle("createKey", ({ path, payload }) => operations.createKey(path.id, payload), toItsEnd)
      .handle("revokeKey", ({ path }) => operations.revokeKey(path.id), toItsEnd)
      .handle("setRelation", ({ payload: { from, to, ...relation } }) => operations.setRelation(from, to, relation), toItsEnd)
      .handle("createPost", ({ payload }) => asId(operations.createPost(payload)), toItsEnd)
      .handle("setProduct", ({ payload }) => asId(operations.setProduct(payload)), toItsEnd)
      .handle("setOrder", ({ payload }) => asId(operations.setOrder(payload)), toItsEnd)
      .handle("createConversation", ({ payload }) => asId(operations.createConversation(payload)), toItsEnd)
      .handle("addFixtures", ({ payload }) => operations.addFixtures(payload), toItsEnd)
  }))
