/**
 * Handler of the stories area: stores any JSON object, since the document shows neither payload nor response.
 *
 * Source: interface v1, "Endpoints", gaps.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { CurrentAssumptions } from "../../Assumptions.ts"
import { CurrentCaller, InterfaceApi, RequestBody } from "../../InterfaceApi.ts"
import { Db } from "../../storage/Db.ts"
import { invalidField } from "../../Validation.ts"
import { idOf, StoriesRepo } from "./StoriesRepo.ts"

export const layer = HttpApiBuilder.group(InterfaceApi, "stories", (handlers) =>
  Effect.gen(function*() {
    const { transaction } = yield* Db
    const repo = yield* StoriesRepo
    const { undocumented } = yield* CurrentAssumptions

    return handlers.handleAll({
      createStory: Effect.fnUntraced(function*() {
        const { accountId } = yield* CurrentCaller
        // The body as it was sent: the decoded payload is a copy without a field called "__proto__".
        const body = yield* RequestBody
        const json = yield* Effect.try({
          try: () => JSON.stringify(body.kind === "json" ? body.value : {}),
          // JSON.stringify needs more stack than JSON.parse for the same depth.
          catch: () => invalidField("body", "is nested too deeply")
        })
        const createdAt = yield* DateTime.now
        const seq = repo.insert(accountId, json, createdAt)
        // The document shows no response body, so without assumptions there is none.
        return undocumented ? { id: idOf(seq), createdAt } : undefined
      }, transaction)
    })
  }))
