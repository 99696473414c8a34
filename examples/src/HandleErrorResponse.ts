/** Decodes an error response without the client. */
import { ErrorResponse } from "@plaza/domain"
import { Clock, Duration, Effect } from "effect"

/** What to do after an error response to `fetch`. */
export const adviceFor = Effect.fn("adviceFor")(function*(response: Response) {
  const receivedAt = yield* Clock.currentTimeMillis
  const body = yield* Effect.promise(() => response.text())
  const error = ErrorResponse.toError({ status: response.status, headers: Object.fromEntries(response.headers), body, receivedAt })
  if (error.code === "PROFILE_INCOMPLETE") return "add a photo and a cover to the profile"
  if (error.category === "RateLimited") return `retry after ${Duration.format(error.retryAfter ?? Duration.minutes(1))}`
  return error.message
})
