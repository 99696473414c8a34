/**
 * The part of the control interface that seeds data, by what `Setup` can do.
 *
 * @since 0.1.0
 */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { AccessRequests } from "../access/AccessRequests.js"
import { toItsEnd } from "../http/RequiresAdmission.js"
import { Setup } from "../seeding/Seeding.js"
import { ServedControlApi } from "./ServedControlApi.js"

const asId = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<{ readonly id: A }, E> =>
  Effect.map(effect, (id) => ({ id }))

/** @since 0.1.0 @category layers */
export const layer = HttpApiBuilder.group(ServedControlApi, "scene", (handlers) =>
  Effect.gen(function*() {
    const { calls } = yield* Setup
    const requests = yield* AccessRequests
    return handlers
      .handle("createAccount", ({ payload }) => calls.createAccount(payload), toItsEnd)
      .handle("setProfile", ({ path, payload }) => calls.setProfile(path.id, payload), toItsEnd)
      .handle("setAccess", ({ path, payload }) => calls.setAccess(path.id, payload.move), toItsEnd)
      .handle("requestAccess", ({ path, payload }) => calls.requestAccess(path.id, payload), toItsEnd)
      .handle("listAccessRequests", () => Effect.map(requests.list(), (data) => ({ data })), toItsEnd)
      .handle("decideAccess", ({ path, payload }) => calls.decideAccess(path.id, payload.decision), toItsEnd)
      .handle("createKey", ({ path, payload }) => calls.createKey(path.id, payload), toItsEnd)
      .handle("revokeKey", ({ path }) => calls.revokeKey(path.id), toItsEnd)
      .handle("setRelation", ({ payload: { from, to, ...relation } }) => calls.setRelation(from, to, relation), toItsEnd)
      .handle("createPost", ({ payload }) => asId(calls.createPost(payload)), toItsEnd)
      .handle("setProduct", ({ payload }) => asId(calls.setProduct(payload)), toItsEnd)
      .handle("setOrder", ({ payload }) => asId(calls.setOrder(payload)), toItsEnd)
      .handle("createConversation", ({ payload }) => asId(calls.createConversation(payload)), toItsEnd)
      .handle("plant", ({ payload }) => calls.plant(payload), toItsEnd)
  }))
