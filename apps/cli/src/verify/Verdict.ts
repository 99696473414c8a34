/** The result of checking a rule, and the checks that several rules share. */
import * as Result from "effect/Result"
import {
  describe,
  errorOf,
  isDocumentedCode,
  isJsonObject,
  isSuccess,
  type Json,
  type Observations,
  type Received,
  responseOf,
  successOf
} from "./Observation.ts"

/** `notObservable`: no request of the run shows whether the service follows the rule. */
export type Status = "confirmed" | "contradicted" | "notObservable"

export interface Verdict {
  readonly status: Status
  /** What showed it, or why nothing did. */
  readonly detail: string
}

/** Derives a verdict from what was observed. */
export type Judge = (observations: Observations) => Verdict

export const confirmed = (detail: string): Verdict => ({ status: "confirmed", detail })

export const contradicted = (detail: string): Verdict => ({ status: "contradicted", detail })

export const notObservable = (detail: string): Verdict => ({ status: "notObservable", detail })

/** A rule that no request of a run can show. */
export const never = (reason: string): Judge => () => notObservable(reason)

/** The verdict of several observations of one rule: a contradiction outweighs a confirmation. */
export const combine = (verdicts: ReadonlyArray<Verdict>): Verdict =>
  (["contradicted", "confirmed", "notObservable"] as const).flatMap((wanted) => verdicts.filter(({ status }) => status === wanted))[0] ??
    notObservable("no request shows it")

/** Judges every one of these values. Without values the rule is not observable. */
export const each = <A>(values: ReadonlyArray<A>, judge: (value: A) => Verdict, absent: string): Verdict =>
  values.length === 0 ? notObservable(absent) : combine(values.map(judge))

/** Judges the response of a step. */
export const on = (step: string, judge: (received: Received, observations: Observations) => Verdict): Judge => (observations) =>
  Result.match(responseOf(observations, step), { onFailure: notObservable, onSuccess: (received) => judge(received, observations) })

/** Judges the successful response of a step. */
export const onSuccess = (step: string, judge: (received: Received, observations: Observations) => Verdict): Judge => (observations) =>
  Result.match(successOf(observations, step), { onFailure: notObservable, onSuccess: (received) => judge(received, observations) })

/** What happened, for the detail of a verdict. */
export const account = ({ request, response }: Received): string => `${request} got ${describe(response)}`

interface Refusal {
  readonly status: number
  readonly code: string
}

/** Requires an error. A code that the document does not list is permitted, and shows nothing about the documented one. */
export const refuses = (step: string, expected: Refusal, permitted: (response: Received) => boolean = () => false): Judge =>
  on(step, (received) => {
    const code = errorOf(received.response)?.code
    const isStatus = received.response.status === expected.status
    return isStatus && code === expected.code
      ? confirmed(account(received))
      : isStatus && code !== undefined && !isDocumentedCode(code)
      ? notObservable(`${account(received)}; the document permits new codes`)
      // The key can be revoked at any time.
      : permitted(received) || (received.response.status === 401 && expected.status !== 401)
      ? notObservable(account(received))
      : contradicted(`${account(received)} instead of ${expected.status} ${expected.code}`)
  })

/** A refusal that comes before the rule in question: of the scope, the access or the profile. */
export const isForbidden = ({ response }: Received): boolean => response.status === 403

/** Requires that an endpoint exists and returns a JSON object, which is judged further. */
export const serves = (step: string, judge: (body: Json, received: Received, observations: Observations) => Verdict): Judge =>
  on(step, (received, observations) =>
    isSuccess(received.response.status)
      ? isJsonObject(received.response.json)
        ? judge(received.response.json, received, observations)
        : contradicted(`${account(received)} without a JSON object`)
      : [404, 405].includes(received.response.status)
      ? contradicted(account(received))
      : notObservable(account(received)))

/**
 * Requires that a write is accepted. The document shows neither its status nor its whole response, so a response without the resource
 * is permitted.
 */
export const accepts = (step: string, judge: (body: Json, received: Received) => Verdict | undefined): Judge =>
  on(step, (received) => {
    const { json, status } = received.response
    return !isSuccess(status)
      ? notObservable(account(received))
      : judge(isJsonObject(json) ? json : {}, received) ?? confirmed(`${account(received)}; the response does not show the change`)
  })
