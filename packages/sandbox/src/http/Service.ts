/**
 * The whole service: from a request to what becomes of it, faults included. Both ways in, in process and by socket, call
 * this and deliver what it decides. Knows nothing of either.
 *
 * What was decided is decided by what the handler did, not by what was delivered: once a handler has begun it runs to
 * its end, even if the caller goes away.
 *
 * @since 0.1.0
 */
import { type DocumentedError, Forbidden } from "@plaza/domain/Errors"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { Assumed } from "../Assumptions.js"
import { Commits } from "./Commits.js"
import * as Control from "../control/Control.js"
import type { Answer } from "./Envelope.js"
import * as Envelope from "./Envelope.js"
import * as FailureLog from "./DefectLog.js"
import type { Delay, Outcome } from "./Fault.js"
import type { Hit } from "./Faults.js"
import { Faults, unhit } from "./Faults.js"
import type { Sent } from "./FaultyResponse.js"
import * as FaultyAnswer from "./FaultyResponse.js"
import type { Admitted } from "./Admission.js"
import { Gate } from "./Admission.js"
import type { Gone, Incoming } from "./IncomingRequest.js"
import { orEnvelope } from "./IncomingRequest.js"
import * as KeptAnswers from "./KeptAnswers.js"
import type { Latitude } from "../Latitude.js"
import { CurrentLatitude } from "../latitude/CurrentLatitude.js"
import { LateCommits } from "../latitude/LateCommits.js"
import * as Responses from "../latitude/Responses.js"
import type { Local } from "./LocalOnly.js"
import * as Operations from "./Operations.js"
import type { Entry } from "./RequestLog.js"
import { RequestLog } from "./RequestLog.js"
import type { Match } from "./Routes.js"
import * as Rule from "./Rule.js"
import { Sql } from "../storage/Sql.js"
import { VirtualClock } from "../VirtualClock.js"
import * as Web from "../web/Web.js"

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
  /** The answer to what can't be read as a request. */
  readonly refuse: (error: DocumentedError) => Answer
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

const keepsFromHandler = (fault: Outcome | undefined): boolean =>
  fault !== undefined && fault.kind !== "garbage" && fault.when === "before"

/** Whether the service may still carry a request out after this fault. */
const givesUp = (fault: Outcome | undefined, { lateCommitStatuses }: Latitude): boolean =>
  fault !== undefined && keepsFromHandler(fault) &&
  (fault.kind === "drop" || fault.kind !== "garbage" && lateCommitStatuses.some((status) => status === fault.status))

/** What something in front of the service answers. */
const gatewayOutcome = ({ gatewayStatus, gatewayStatusWhen }: Latitude): Outcome => ({
  kind: "status",
  when: gatewayStatusWhen,
  status: gatewayStatus ?? 307,
  body: "",
  ...(gatewayStatus === 408 ? {} : { location: "/elsewhere" })
})

const make = (local: Local) => Effect.gen(function*() {
  // Where nothing is answered that the document doesn't show, errors have their code and message alone.
  const { countRefused: assumedCount, undocumented } = yield* Assumed
  const gate = yield* Gate
  const faults = yield* Faults
  const log = yield* RequestLog
  const control = yield* Control.Control
  const web = yield* Web.Web
  const clock = yield* VirtualClock
  const latitude = yield* CurrentLatitude
  const late = yield* LateCommits
  const commits = yield* Commits
  const { handle, match } = yield* Operations.make
  const keep = KeptAnswers.make(yield* Sql)

  const perform = (admitted: Admitted, incoming: Incoming, entry: Entry, isLate: boolean): Effect.Effect<Answer, DocumentedError> => {
    const { caller, operation, request } = admitted
    const encode = (result: unknown) =>
      latitude.isDefault ? operation.encode(result) : Responses.success(latitude.value, operation, operation.write(result))
    const handled = handle(operation.name, request, admitted)
    return operation.method !== "GET"
      ? Effect.flatMap(handled, (result) => Effect.map(commits.add(admitted, entry, result, isLate), () => encode(result)))
      // What is kept is as the defaults write it.
      : latitude.isDefault
      ? keep(caller.accountId, incoming.target, () => Effect.map(handled, encode))
      : Effect.map(handled, encode)
  }

  const shapeFailure = (answer: Answer, isByHand: boolean): Effect.Effect<Answer> =>
    latitude.isDefault
      ? Effect.succeed(answer)
      : Effect.map(Clock.currentTimeMillis, (now) => Responses.failure(latitude.value, answer, { now, isByHand }))

  /** What the service decides by itself of a request, once it is admitted. In few steps: each one is paid by every request. */
  const decide = (
    admission: Effect.Effect<Admitted, DocumentedError | Gone>,
    incoming: Incoming,
    entry: Entry,
    isLate: boolean
  ): Effect.Effect<Answer, Gone> => {
    let operation: Admitted["operation"] | undefined
    return admission.pipe(
      Effect.flatMap((admitted) => {
        operation = admitted.operation
        return Effect.map(perform(admitted, incoming, entry, isLate), (answer) => {
          log.noteDecision(entry, Rule.done(admitted.operation))
          entry.status = answer.status
          return answer
        })
      }),
      Effect.catchAllCause((cause) => {
        const error = Option.getOrUndefined(Cause.failureOption(cause))
        if (error !== undefined && error._tag !== "Gone") {
          log.noteDecision(entry, operation === undefined ? Rule.ofGate(error) : Rule.ofOperation(operation, error))
        }
        return Effect.flatMap(orEnvelope(Effect.failCause(cause), () => entry.operation ?? "none", undocumented), (answer) => {
          entry.status = answer.status
          if (entry.rule === null) {
            log.noteDecision(entry, Rule.defect)
          }
          return shapeFailure(answer, false)
        })
      })
    )
  }

  const decideFaulty = (matched: Match, incoming: Incoming, entry: Entry, hit: Hit) =>
    Effect.gen(function*() {
      entry.faults = hit.ids
      const fault = hit.outcome
      const isBefore = keepsFromHandler(fault)
      const isGivenUp = givesUp(fault, latitude.value)
      const { lateCommitMillis } = latitude.value
      const mayBeLate = lateCommitMillis > 0 && incoming.method !== "GET" && (isBefore ? isGivenUp : hit.delay?.when === "before")
      // Whoever is given up can no longer be read from, so what may be carried out later is taken in now.
      const admission = mayBeLate ? yield* Effect.exit(gate.admit(matched, incoming, entry)) : gate.admit(matched, incoming, entry)
      const commitLater = Effect.suspend(() => late.schedule(lateCommitMillis, decide(admission, incoming, entry, true)))
      yield* mayBeLate ? Effect.onInterrupt(pause(hit.delay, "before"), () => commitLater) : pause(hit.delay, "before")
      if (isBefore) {
        // The fault hits all the same where the storage can't count it.
        // A refusal for the rate counts only where refusals are assumed to count.
        const isUncounted = fault?.kind === "status" && fault.status === 429 && !(latitude.value.countRefused ?? assumedCount)
        yield* isGivenUp && mayBeLate
          ? commitLater
          : isUncounted ? Effect.void : Effect.catchAllCause(gate.count(matched, incoming, entry), (cause) => FailureLog.log("count", cause))
        log.noteDecision(entry, hit.ids.length > 0 || fault?.kind !== "status" ? Rule.ofFaults(hit.ids) : Rule.ofGateway(fault.status))
      }
      const own = isBefore ? undefined : yield* decide(admission, incoming, entry, false)
      yield* pause(hit.delay, "after")
      const now = yield* Clock.currentTimeMillis
      return FaultyAnswer.apply(fault, own, (answer, isByHand) =>
        latitude.isDefault ? answer : Responses.failure(latitude.value, answer, { now, isByHand }))
    })

  /** Outside of the interface there is nothing, so nothing of its gate or faults applies. */
  const decideAll = (incoming: Incoming, entry: Entry, path: string | undefined) => {
    const matched: Match = path === undefined ? { _tag: "NotFound" } : match(incoming.method, path)
    if (matched._tag === "Operation") {
      log.noteOperation(entry, matched.operation.name, matched.params)
    }
    const isGateway = path !== undefined && latitude.isGatewayRequest()
    return Effect.flatMap(path === undefined ? unhit : faults.take(incoming.method, path), (asked) => {
      // A fault that was asked for goes before.
      const hit = isGateway && asked.outcome === undefined ? { ...asked, outcome: gatewayOutcome(latitude.value) } : asked
      return hit.outcome === undefined && hit.delay === undefined
        ? Effect.map(decide(gate.admit(matched, incoming, entry), incoming, entry, false), (own) => FaultyAnswer.apply(undefined, own))
        : decideFaulty(matched, incoming, entry, hit)
    })
  }

  const answerInterface = (incoming: Incoming, path: string, query: string) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const inside = path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : undefined
      const entry = log.open(incoming.method, inside ?? path, query, now)
      return Effect.matchCauseEffect(decideAll(incoming, entry, inside), {
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
          return Effect.map(Clock.currentTimeMillis, (now) => ({
            ...sent,
            answer: Responses.withHeaders(latitude.value, sent.answer, { now, id: entry.id })
          }))
        }
      })
    })

  const misdirected = Effect.succeed(asItIs(Envelope.failure(
    new Forbidden({
      message: "the sandbox answers for its own names, such as localhost and 127.0.0.1, and for the hosts that are allowed: the host that was asked for is none of them"
    })
  )))

  return {
    refuse: (error: DocumentedError) => Envelope.failure(error, undocumented),
    answer: (incoming: Incoming): Effect.Effect<Sent, Gone> => {
      if (!local.answersFor(incoming)) {
        return misdirected
      }
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
export const layer = (local: Local) => Layer.effect(Service, make(local))
