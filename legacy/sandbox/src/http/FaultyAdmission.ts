/**
 * Admission under a fault: waits for a delay before the handler, stops the request before its handler if the fault says so,
 * and schedules a late commit if the latitude has one.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Caller } from "../access/Callers.ts"
import { MediaFiles } from "../areas/media/MediaFiles.ts"
import { CurrentAssumptions } from "../Assumptions.ts"
import type { Latitude } from "../Latitude.ts"
import { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import { LateCommits } from "../latitude/LateCommits.ts"
import * as DefectLog from "./DefectLog.ts"
import type { Exchange, Refusal } from "./Exchange.ts"
import { NotHandled } from "./Exchange.ts"
import type { Pause, ResponseFault } from "./Fault.ts"
import { RequestLog } from "./RequestLog.ts"
import * as Rule from "./Rule.ts"

/**
 * Waits for a delay before or after the handler. A closed connection ends the wait.
 *
 * @since 0.1.0
 * @category combinators
 */
export const pause = (delay: Pause | undefined, when: Pause["when"]): Effect.Effect<void> =>
  delay?.when === when ? Effect.interruptible(Effect.sleep(Duration.millis(delay.millis))) : Effect.void

const isBeforeHandler = (fault: ResponseFault): boolean => fault.kind !== "garbage" && fault.when === "before"

/** Whether a late commit may follow a fault that stops the request before its handler. */
const mayCommitAfter = (fault: ResponseFault, { lateCommitStatuses }: Latitude): boolean =>
  fault.kind === "drop" || fault.kind !== "garbage" && lateCommitStatuses.some((status) => status === fault.status)

/**
 * Admits under the fault that hits an exchange. `count` counts a request that a fault stops before admission, because it
 * still counts against the rate limit.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (count: (exchange: Exchange) => Effect.Effect<void>) =>
  Effect.gen(function*() {
    const { countRefused: assumedCount } = yield* CurrentAssumptions
    const latitude = yield* CurrentLatitude
    const files = yield* MediaFiles
    const late = yield* LateCommits
    const log = yield* RequestLog

    return (exchange: Exchange, admit: Effect.Effect<Caller, Refusal>): Effect.Effect<Caller, Refusal> =>
      Effect.gen(function*() {
        const { entry, hit: { delay, ids, outcome: fault } } = exchange
        const { countRefused, lateCommitMillis } = latitude.value
        const skipsHandler = fault !== undefined && isBeforeHandler(fault)
        const mayBeLate = lateCommitMillis > 0 && exchange.method !== "GET" &&
          (skipsHandler ? mayCommitAfter(fault, latitude.value) : delay?.when === "before")
        if (mayBeLate) {
          // Reads the body now: the connection may be closed when the late commit runs.
          exchange.admission = yield* Effect.exit(admit)
        }
        const commitLater = late.schedule(lateCommitMillis, {
          commit: Effect.suspend(() => exchange.commit(exchange)),
          discard: Effect.suspend(() => exchange.file === undefined ? Effect.void : files.remove([exchange.file.file]))
        })
        yield* mayBeLate ? Effect.onInterrupt(pause(delay, "before"), () => commitLater) : pause(delay, "before")
        if (!skipsHandler) {
          return yield* exchange.admission ?? admit
        }
        // A refusal for the rate counts only where refusals are assumed to count.
        const isUncounted = fault.kind === "status" && fault.status === 429 && !(countRefused ?? assumedCount)
        yield* mayBeLate
          ? commitLater
          // If the storage fails, the fault still applies and the request is not counted.
          : isUncounted
          ? Effect.void
          : Effect.catchAllCause(count(exchange), (cause) => DefectLog.log("count", cause))
        log.noteDecision(entry, ids.length > 0 || fault.kind !== "status" ? Rule.ofFaults(ids) : Rule.ofGateway(fault.status))
        return yield* new NotHandled()
      })
  })
