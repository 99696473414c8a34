/**
 * The console: the latest requests with the rule that decided each, the state, the faults and the clock. With scripts
 * the tables update themselves.
 *
 * @since 0.1.0
 */
import type { DocumentedError } from "@plaza/domain/Errors"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Envelope from "../http/Envelope.js"
import { Faults } from "../http/Faults.js"
import { RequestLog } from "../http/RequestLog.js"
import { Seeding } from "../seeding/Seeding.js"
import { VirtualClock } from "../VirtualClock.js"
import * as View from "./ConsoleView.js"
import * as FaultForm from "./FaultForm.js"
import type * as Form from "./Form.js"
import * as Lookup from "./Lookup.js"
import * as Page from "./Page.js"

const path = Page.paths.console

/** @since 0.1.0 @category pages */
export const routes = Effect.gen(function*() {
  const log = yield* RequestLog
  const faults = yield* Faults
  const clock = yield* VirtualClock
  const seeding = yield* Seeding
  const lookup = yield* Lookup.make

  const show = (result: View.FormResult) =>
    Effect.gen(function*() {
      return View.page({
        requests: (yield* log.read({ limit: View.requestsShown })).data,
        counts: yield* lookup.counts,
        faults: yield* faults.list,
        clock: yield* clock.read
      }, result)
    })
  const redirect = (action: keyof typeof View.sentences) => Page.seeOther(`${path}?done=${action}`)
  const showError = (values: URLSearchParams, part: "fault" | "advance") => (error: DocumentedError) =>
    show({ [part]: { values, error } satisfies Form.Submission })

  return [
    { method: "GET", path, handle: (request) => show({ message: Page.done(request, View.sentences) }) },
    {
      method: "POST",
      path,
      handle: Page.byAction({
        fault: ({ form }) =>
          Either.match(FaultForm.read(form), {
            onLeft: showError(form, "fault"),
            onRight: (fault) => Effect.as(faults.add(fault), redirect("fault"))
          }),
        clear: () => Effect.as(faults.clear, redirect("clear")),
        advance: ({ form }) =>
          clock.advance(View.readAdvance(form)).pipe(
            Effect.as(redirect("advance")),
            // The clock's own message names the field `millis`, which the form doesn't have.
            Effect.mapError(() => Envelope.invalidField("forward", "must be above 0, and the new time must be before the year 10000")),
            Effect.catchAll(showError(form, "advance"))
          ),
        reset: () => Effect.as(seeding.reset, redirect("reset"))
      })
    }
  ] satisfies ReadonlyArray<Page.Route>
})
