/**
 * Handler of the stories area: stores any JSON value, since the document shows neither payload nor response.
 *
 * Source: interface v1, "Endpoints", gaps.
 *
 * @since 0.1.0
 */
import type { StoriesGroup } from "@plaza/domain/PlazaApi"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { Assumed } from "../../Assumptions.js"
import type { Handlers } from "../../http/Admission.js"
import * as Envelope from "../../http/Envelope.js"
import { Sql } from "../../storage/Sql.js"
import { idOf, StoriesRepo } from "./StoriesRepo.js"

/** @since 0.1.0 @category handlers */
export const handlers: Effect.Effect<Handlers<typeof StoriesGroup>, never, Sql | StoriesRepo | Assumed> = Effect.gen(function*() {
  const { withTransaction } = yield* Sql
  const repo = yield* StoriesRepo
  const { undocumented } = yield* Assumed

  return {
    createStory: ({ payload }, { caller }) =>
      Effect.gen(function*() {
        const json = yield* Effect.try({
          try: () => JSON.stringify(payload),
          // JSON.stringify needs more stack than JSON.parse for the same depth.
          catch: () => Envelope.invalidField("body", "is nested too deeply")
        })
        const createdAt = yield* DateTime.now
        const seq = yield* repo.insert(caller.accountId, json, createdAt)
        // The document shows no response body, so without assumptions there is none.
        return undocumented ? { id: idOf(seq), createdAt: DateTime.formatIso(createdAt) } : undefined
      }).pipe(withTransaction)
  }
})
