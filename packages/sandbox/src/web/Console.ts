/**
 * The inspector: what is asked and decided right now and by which rule, how much the sandbox holds, the faults it has in store
 * and its clock. The tables follow by themselves where scripts run.
 *
 * @since 0.1.0
 */
import type { DocumentedError } from "@plaza/domain/Errors"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Envelope from "../http/Envelope.js"
import { Faults } from "../http/Faults.js"
import { RequestLog } from "../http/RequestLog.js"
import { Setup } from "../seeding/Seeding.js"
import { VirtualClock } from "../VirtualClock.js"
import * as FaultForm from "./FaultForm.js"
import type * as Form from "./Form.js"
import * as View from "./ConsoleView.js"
import * as Lookup from "./Lookup.js"
import * as Page from "./Page.js"

const path = Page.paths.inspector

/** @since 0.1.0 @category pages */
export const routes = Effect.gen(function*() {
  const log = yield* RequestLog
  const faults = yield* Faults
  const clock = yield* VirtualClock
  const setup = yield* Setup
  const lookup = yield* Lookup.make

  const show = (shown: View.Shown) =>
    Effect.gen(function*() {
      return View.page({
        requests: (yield* log.read({ limit: View.requestsShown })).data,
        counts: yield* lookup.counts,
        faults: yield* faults.list,
        clock: yield* clock.read
      }, shown)
    })
  const back = (word: keyof typeof View.sentences) => Page.seeOther(`${path}?done=${word}`)
  const again = (values: URLSearchParams, part: "fault" | "advance") => (error: DocumentedError) =>
    show({ [part]: { values, error } satisfies Form.Sent })

  return [
    { method: "GET", path, handle: (visit) => show({ message: Page.done(visit, View.sentences) }) },
    {
      method: "POST",
      path,
      handle: Page.byAction({
        fault: ({ form }) =>
          Either.match(FaultForm.read(form), {
            onLeft: again(form, "fault"),
            onRight: (fault) => Effect.as(faults.add(fault), back("fault"))
          }),
        clear: () => Effect.as(faults.clear, back("clear")),
        advance: ({ form }) =>
          clock.advance(View.readAdvance(form)).pipe(
            Effect.as(back("advance")),
            // The clock speaks of milliseconds, which nobody put in.
            Effect.mapError(() => Envelope.invalidField("forward", "has to be above 0 and lead to no year after 9999")),
            Effect.catchAll(again(form, "advance"))
          ),
        reset: () => Effect.as(setup.reset, back("reset"))
      })
    }
  ] satisfies ReadonlyArray<Page.Route>
})
