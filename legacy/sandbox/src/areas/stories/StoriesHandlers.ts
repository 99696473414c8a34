/**
 * Handler of the stories area: stores any JSON value, since the document shows neither payload nor response.
 *
 * Source: interface v1, "Endpoints", gaps.
 *
 * @since 0.1.0
 */
import { StoriesGroup } from "@plaza-legacy/domain/PlazaApi"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { CurrentAssumptions } from "../../Assumptions.ts"
import * as Endpoints from "../../http/Endpoints.ts"
import * as Envelope from "../../http/Envelope.ts"
import { CurrentCaller } from "../../http/RequiresAdmission.ts"
import { servedInterface } from "../../http/ServedApi.ts"
import { Sql } from "../../storage/Sql.ts"
import { idOf, StoriesRepo } from "./StoriesRepo.ts"

/** @since 0.1.0 @category handlers */
export const group = Endpoints.group(servedInterface, StoriesGroup, (handlers) =>
  Effect.gen(function*() {
    const { withTransaction } = yield* Sql
    const repo = yield* StoriesRepo
    const { undocumented } = yield* CurrentAssumptions

    return handlers
      .handle("createStory", ({ request }) =>
        Effect.gen(function*() {
          const caller = yield* CurrentCaller
          // The body as it was sent: the decoded payload is a copy without a field called "__proto__".
          const payload = yield* Effect.orDie(request.json)
          const json = yield* Effect.try({
            try: () => JSON.stringify(payload),
            // JSON.stringify needs more stack than JSON.parse for the same depth.
            catch: () => Envelope.invalidField("body", "is nested too deeply")
          })
          const createdAt = yield* DateTime.now
          const seq = yield* repo.insert(caller.accountId, json, createdAt)
          // The document shows no response body, so without assumptions there is none.
          return undocumented ? { id: idOf(seq), createdAt: DateTime.formatIso(createdAt) } : undefined
        }).pipe(withTransaction))
  }))
