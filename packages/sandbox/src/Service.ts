/**
 * The whole service: from a request to what becomes of it, faults included. Both ways in, in process and by socket, call
 * this and deliver what it decides. Knows nothing of either.
 *
 * What was decided is decided by what the handler did, not by what was delivered: once a handler has begun it runs to
 * its end, even if the caller goes away.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Control from "./Control.js"
import type { Answer } from "./Envelope.js"
import * as Envelope from "./Envelope.js"
import type { Delay } from "./Fault.js"
import type { Hit } from "./Faults.js"
import { Faults, unhit } from "./Faults.js"
import type { Sent } from "./FaultyAnswer.js"
import * as FaultyAnswer from "./FaultyAnswer.js"
import type { Admitted } from "./Gate.js"
import { Gate } from "./Gate.js"
import type { Gone, Incoming } from "./Incoming.js"
import { orEnvelope } from "./Incoming.js"
import * as KeptAnswers from "./KeptAnswers.js"
import * as Operations from "./Operations.js"
import type { Entry } from "./RequestLog.js"
import { RequestLog } from "./RequestLog.js"
import type { Match } from "./Routes.js"
import * as Rule from "./Rule.js"
import { Sql } from "./Sql.js"
import { VirtualClock } from "./VirtualClock.js"
import * as Web from "./Web.js"

/**
 * Where the interface begins; the base address of a sandbox ends with it.
 *
 * @since 0.1.0
 * @category constants
 */
export const basePath = "/open/v1"

/** @since 0.1.0 @category services */
export class Service extends Context.Tag("@plaza/sandbox/Service")<Service, {
  readonly answer: (incoming: Incoming) => Effect.Effect<Sent, Gone>
}>() {}

const pause = (delay: Delay | undefined, when: Delay["when"]): Effect.Effect<void> =>
  delay?.when === when ? Effect.interruptible(Effect.sleep(Duration.millis(delay.millis))) : Effect.void

/** An absolute target is what proxies are sent. */
const withoutOrigin = (target: string): string => /^https?:\/\/[^/?#]*(.*)$/is.exec(target)?.[1] ?? target

const split = (target: string): readonly [path: string, query: string] => {
  const mark = target.indexOf("?")
  return mark === -1 ? [target, ""] : [target.slice(0, mark), target.slice(mark + 1)]
}

const asItIs = (answer: Answer): Sent => ({ _tag: "Answer", answer })

const make = Effect.gen(function*() {
  const gate = yield* Gate
  const faults = yield* Faults
  const log = yield* RequestLog
  const control = yield* Control.Control
  const web = yield* Web.Web
  const clock = yield* VirtualClock
  const { handle, match } = yield* Operations.make
  const keep = KeptAnswers.make(yield* Sql)

  /** What the service decides by itself. In few steps: each one is paid by every request. */
  const decide = (matched: Match, incoming: Incoming, entry: Entry): Effect.Effect<Answer, Gone> => {
    let operation: Admitted["operation"] | undefined
    return gate.admit(matched, incoming, entry).pipe(
      Effect.flatMap((admitted) => {
        const { caller, operation: asked, request } = admitted
        operation = asked
        const run = () => Effect.map(handle(asked.name, request, admitted), asked.encode)
        return Effect.map(asked.method === "GET" ? keep(caller.accountId, incoming.target, run) : run(), (answer) => {
          const { reason, rule } = Rule.done(asked)
          entry.rule = rule
          entry.reason = reason
          entry.status = answer.status
          return answer
        })
      }),
      Effect.catchAllCause((cause) => {
        const error = Option.getOrUndefined(Cause.failureOption(cause))
        if (error !== undefined && error._tag !== "Gone") {
          Object.assign(entry, operation === undefined ? Rule.ofGate(error) : Rule.ofOperation(operation, error))
        }
        return Effect.map(orEnvelope(Effect.failCause(cause)), (answer) => {
          Object.assign(entry, { status: answer.status }, entry.rule === null ? Rule.defect : {})
          return answer
        })
      })
    )
  }

  const decideFaulty = (matched: Match, incoming: Incoming, entry: Entry, hit: Hit) =>
    Effect.gen(function*() {
      entry.faults = hit.ids
      yield* pause(hit.delay, "before")
      const fault = hit.outcome
      const isBefore = fault !== undefined && fault.kind !== "garbage" && fault.when === "before"
      if (isBefore) {
        yield* gate.count(incoming, entry)
        Object.assign(entry, Rule.ofFaults(hit.ids))
      }
      const own = isBefore ? undefined : yield* decide(matched, incoming, entry)
      yield* pause(hit.delay, "after")
      return FaultyAnswer.apply(fault, own)
    })

  /** Outside of the interface there is nothing, so nothing of its gate or faults applies. */
  const decideAll = (incoming: Incoming, entry: Entry, isInside: boolean) => {
    const matched: Match = isInside ? match(incoming.method, entry.path) : { _tag: "NotFound" }
    if (matched._tag === "Operation") {
      entry.operation = matched.operation.name
      entry.params = matched.params
    }
    return Effect.flatMap(isInside ? faults.take(incoming.method, entry.path) : unhit, (hit) =>
      hit.ids.length === 0
        ? Effect.map(decide(matched, incoming, entry), (own) => FaultyAnswer.apply(undefined, own))
        : decideFaulty(matched, incoming, entry, hit))
  }

  const answerInterface = (incoming: Incoming, path: string, query: string) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const isInside = path.startsWith(`${basePath}/`)
      const entry = log.open(incoming.method, isInside ? path.slice(basePath.length) : path, query, now)
      return Effect.matchCauseEffect(decideAll(incoming, entry, isInside), {
        onFailure: (cause) => {
          entry.delivered = "abandoned"
          return Effect.failCause(cause)
        },
        onSuccess: ({ delivered, sent }): Effect.Effect<Sent> => {
          entry.delivered = delivered
          if (sent._tag === "Drop") {
            return Effect.succeed(sent)
          }
          entry.deliveredStatus = sent.answer.status
          return Effect.succeed({ ...sent, answer: Envelope.withHeader(sent.answer, "x-request-id", entry.id) })
        }
      })
    })

  return {
    answer: (incoming: Incoming): Effect.Effect<Sent, Gone> => {
      const [path, query] = split(withoutOrigin(incoming.target))
      const isControl = path === Control.basePath || path.startsWith(`${Control.basePath}/`)
      return Effect.uninterruptible(clock.within(
        isControl
          ? Effect.map(control.answer(incoming, path), asItIs)
          : web.owns(path)
          ? Effect.map(web.answer(incoming, path, query), asItIs)
          : answerInterface(incoming, path, query)
      ))
    }
  }
})

/** @since 0.1.0 @category layers */
export const layer = Layer.effect(Service, make)
