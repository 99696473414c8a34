/** The result of checking a rule, and the checks that several rules share. */
import * as Result from "effect/Result"
import type { VerifyReport } from "../schema/Outputs.ts"
import {
  errorOf,
  isDocumentedCode,
  isJsonObject,
  isSuccess,
  type Json,
  type Observations,
  type Received,
  responseOf,
  statusOf,
  successOf,
  summarize
} from "./Observation.ts"
import { refusals } from "./Plan.ts"

/** `notObservable`: no request of the run shows whether the service follows the rule. The detail says what showed it, or why nothing did. */
export type Verdict = Pick<VerifyReport["rules"][number], "status" | "detail">

/** Derives a verdict from what was observed. */
export type Judge = (observations: Observations) => Verdict

export const confirmed = (detail: string): Verdict => ({ status: "confirmed", detail })

export const contradicted = (detail: string): Verdict => ({ status: "contradicted", detail })

export const notObservable = (detail: string): Verdict => ({ status: "notObservable", detail })

/** A rule that no request of a run can show. */
export const never = (reason: string): Judge => () => notObservable(reason)

/** The verdict of several observations of one rule: a contradiction outweighs a confirmation. */
const combine = (verdicts: ReadonlyArray<Verdict>, absent: string): Verdict =>
  (["contradicted", "confirmed", "notObservable"] as const).flatMap((wanted) => verdicts.filter(({ status }) => status === wanted))[0] ??
    notObservable(absent)

/** Combines checks of one rule. */
export const any = (judges: ReadonlyArray<Judge>): Judge => (observations) =>
  combine(judges.map((judge) => judge(observations)), "no request shows it")

/** Judges every one of these values. Without values the rule is not observable. */
export const each = <A>(
  values: (observations: Observations) => ReadonlyArray<A>,
  judge: (value: A, observations: Observations) => Verdict,
  absent: string
): Judge =>
(observations) => combine(values(observations).map((value) => judge(value, observations)), absent)

/** Requires that none of these values has a problem. */
export const every = <A>(
  values: (observations: Observations) => ReadonlyArray<A>,
  problem: (value: A) => string | undefined,
  seen: string | ((value: A) => string),
  absent: string
): Judge =>
  each(values, (value) => {
    const detail = problem(value)
    return detail === undefined ? confirmed(typeof seen === "string" ? seen : seen(value)) : contradicted(detail)
  }, absent)

type JudgeReceived = (received: Received, observations: Observations) => Verdict

const judging = (response: typeof responseOf) => (step: string, judge: JudgeReceived): Judge => (observations) =>
  Result.match(response(observations, step), { onFailure: notObservable, onSuccess: (received) => judge(received, observations) })

/** Judges the response of a step. */
export const on = judging(responseOf)

/** Judges the successful response of a step. */
export const onSuccess = judging(successOf)

/** A refusal that comes before the rule in question: of the scope, the access or the profile. */
export const isForbidden = ({ response }: Received): boolean => response.status === 403

/**
 * Requires the documented errors of these steps. A code that the document does not list is permitted, and shows nothing about the documented
 * one.
 */
export const refuses = (steps: ReadonlyArray<string>, permitted: (received: Received) => boolean = () => false): Judge =>
  any(Object.entries(refusals).filter(([step]) => steps.includes(step)).map(([step, expected]) =>
    on(step, (received) => {
      const [status, code] = [statusOf(expected), errorOf(received.response)?.code]
      const isStatus = received.response.status === status
      return isStatus && code === expected
        ? confirmed(summarize(received))
        : isStatus && code !== undefined && !isDocumentedCode(code)
        ? notObservable(`${summarize(received)}; the document permits new codes`)
        // The key can be revoked at any time.
        : permitted(received) || (received.response.status === 401 && status !== 401)
        ? notObservable(summarize(received))
        : contradicted(`${summarize(received)} instead of ${status} ${expected}`)
    })
  ))

/** Requires that an endpoint exists and returns a JSON object, which is judged further. */
export const serves = (step: string, judge: (body: Json, received: Received) => Verdict): Judge =>
  on(step, (received) => {
    const { json, status } = received.response
    return !isSuccess(received)
      ? ([404, 405].includes(status) ? contradicted : notObservable)(summarize(received))
      : isJsonObject(json)
      ? judge(json, received)
      : contradicted(`${summarize(received)} without a JSON object`)
  })

/**
 * Requires that a write is accepted. The document shows neither its status nor its whole response, so a response without the resource
 * is permitted.
 */
export const accepts = (step: string, judge: (body: Json, received: Received) => Verdict | undefined): Judge =>
  on(step, (received) => {
    const { json } = received.response
    return !isSuccess(received)
      ? notObservable(summarize(received))
      : judge(isJsonObject(json) ? json : {}, received) ?? confirmed(`${summarize(received)}; the response does not show the change`)
  })
