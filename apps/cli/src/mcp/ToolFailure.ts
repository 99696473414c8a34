/** The failure of a tool as JSON: what is known about its outcome, and what a caller should do. */
import * as ExitCode from "@plaza/cli-kit/ExitCode"
import * as Report from "@plaza/cli-kit/Report"
import { count } from "@plaza/cli-kit/Text"
import type { ClientError } from "@plaza/client"
import * as FailureScope from "@plaza/client/FailureScope"
import { longestWait } from "@plaza/domain/ErrorResponse"
import type { ServiceError } from "@plaza/domain/Errors"
import type { OperationName } from "@plaza/domain/Operations"
import * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import { PlatformError } from "effect/PlatformError"
import type { Tool } from "./Tool.ts"

/**
 * - `notDone`: the call changed nothing.
 * - `unknown`: the call may have changed something, or may still do so.
 * - `probablyDone`: the service reported success, but not legibly; or the state shows the change, but not by whom.
 */
export type Outcome = "notDone" | "unknown" | "probablyDone"

export interface ToolFailure {
  readonly tag: string
  readonly code: string | null
  readonly status: number | null
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
  readonly outcome: Outcome
  /** What to do, for a model. */
  readonly advice: string
}

const doNotRepeat = "Do not repeat this call"

/** How to find out what a write did, where the interface can show it. */
const checks = new Map<string, string>([["createPost" satisfies OperationName, "Look for the post with listPosts first."]])

const checkOf = ({ name }: Tool): string =>
  checks.get(name) ?? "The interface does not show it: ask a person to check it in the web app first."

/** What to do after a write that was made, or may have been. */
const afterWrite = (tool: Tool, what: string): string =>
  tool.delivery === "Repeatable" ? `${what}, and making it again is safe.` : `${doNotRepeat}: ${what.toLowerCase()}. ${checkOf(tool)}`

const mayBeMade = "The change may have been made"

const afterWait = (wait: string): string => `Call it again ${wait}, not earlier.`

/** What to do after a wait of the service. A longer wait is cut to a day. */
const afterRetryAfter = (wait: Duration.Duration): string =>
  Duration.isLessThan(wait, longestWait)
    ? afterWait(`in ${count(Math.ceil(Duration.toSeconds(wait)), "second")}`)
    : "Call it again in a day at the earliest."

const wrongAddress = `${doNotRepeat}: a person must check the base URL and the proxy first.`

const ofService = (error: ServiceError, { mayBeMissing }: Tool): string => {
  // Not from the service: a redirect, or the page of a proxy.
  if (error._tag === "UnrecognizedError" && error.code === undefined) {
    // A long argument can cause one, such as status 431.
    if (error.category === "InvalidRequest") {
      return `${doNotRepeat} with these arguments: a person must check the base URL and the proxy first.`
    }
    if (error.category === "Unauthenticated" || error.category === "Forbidden") return wrongAddress
  }
  switch (error.category) {
    case "RateLimited":
    case "ServiceFault":
      return error.retryAfter === undefined ? afterWait("in a minute") : afterRetryAfter(error.retryAfter)
    case "InvalidRequest":
    case "TooLarge":
      return "Correct the arguments before you call it again."
    case "NotFound":
      return mayBeMissing ? "Check the id. The account may not have access to it." : wrongAddress
    case "Conflict":
      return `${doNotRepeat}: the state already differs, perhaps because the change was made before.`
    case "Unauthenticated":
    case "Forbidden":
      return `${doNotRepeat}: a person must change the key, its scopes or the account first.`
  }
}

const ofClient = (failure: Exclude<ClientError.Failure, ServiceError>): string => {
  switch (failure._tag) {
    case "InvalidInput":
      return "Correct the arguments before you call it again."
    case "RateLimitWaitExceeded":
      return afterWait(`at ${DateTime.formatIso(failure.retryAt)}`)
    case "CursorRejected":
    case "CursorRepeated":
      return "Read the list again without a cursor."
    case "UnreadableItem":
      return failure.nextCursor === null
        ? "Read the items before it with a smaller limit."
        : `Continue after this page with the cursor ${JSON.stringify(failure.nextCursor)}.`
    case "ClientClosed":
      return "plaza mcp is stopping: start it again."
    case "ConnectionFailed":
    case "ConnectionLost":
    case "AttemptTimeout":
    case "UnreadableSuccess":
    case "OutcomeUnknown":
      return afterWait("in a minute")
  }
}

const isCallFailure = (error: unknown): error is ClientError.Failure =>
  ExitCode.isServiceError(error) || (ExitCode.isClientFailure(error) && error._tag !== "InvalidSettings")

/** The advice after another one that begins with {@link doNotRepeat}. */
const withoutDoNotRepeat = (advice: string): string =>
  advice.startsWith(doNotRepeat) ? advice.replace(/^[^:]*: (.)/, (_, first: string) => first.toUpperCase()) : advice

/** What to do after a write that failed, but may have been made all the same. */
const afterDoubt = (failure: ClientError.Failure, tool: Tool, advice: string): string => {
  const isRefusal = ExitCode.isServiceError(failure) && failure.category !== "RateLimited" && failure.category !== "ServiceFault"
  if (tool.delivery === "Repeatable") return isRefusal ? `${mayBeMade} all the same. ${advice}` : `${afterWrite(tool, mayBeMade)} ${advice}`
  // Other advice says when to call it again.
  return isRefusal ? `${afterWrite(tool, mayBeMade)} ${withoutDoNotRepeat(advice)}` : afterWrite(tool, mayBeMade)
}

const judge = (failure: ClientError.Failure, tool: Tool): { readonly outcome: Outcome; readonly advice: string } => {
  const isWrite = tool.delivery !== "Read"
  if (isWrite && failure._tag === "UnreadableSuccess") {
    return { outcome: "probablyDone", advice: afterWrite(tool, "The change was probably made") }
  }
  if (failure._tag === "OutcomeUnknown") {
    return failure.likely === "done"
      ? {
        outcome: "probablyDone",
        advice: `${doNotRepeat}: the change is made, but perhaps by another call with other values. ${checkOf(tool)}`
      }
      : { outcome: "unknown", advice: afterWrite(tool, mayBeMade) }
  }
  const advice = ExitCode.isServiceError(failure) ? ofService(failure, tool) : ofClient(failure)
  if (!isWrite) return { outcome: "notDone", advice }
  return FailureScope.mayHaveHappened(failure)
    ? { outcome: "unknown", advice: afterDoubt(failure, tool, advice) }
    : { outcome: "notDone", advice: `Nothing was changed. ${advice}` }
}

/** Other failures concern a file, or the settings of this program. */
const judgeOther = (error: unknown): { readonly outcome: Outcome; readonly advice: string } =>
  error instanceof PlatformError
    // An upload may have read the file before, for an earlier attempt.
    ? { outcome: FailureScope.mayHaveHappened(error) ? "unknown" : "notDone", advice: "Correct the arguments before you call it again." }
    : { outcome: "notDone", advice: `${doNotRepeat}: a person must correct the settings of plaza mcp first.` }

/** The failure of a tool. Shows no stack and no cause. */
export const ofCause = (cause: Cause.Cause<unknown>, tool: Tool): ToolFailure => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  // A bug, or an interruption: what was sent until then is unknown.
  if (error === undefined) {
    const isWrite = tool.delivery !== "Read"
    return {
      tag: "Defect",
      code: null,
      status: null,
      message: "internal error of plaza mcp",
      details: {},
      outcome: isWrite ? "unknown" : "notDone",
      advice: isWrite ? afterWrite(tool, mayBeMade) : "Report it as a bug of plaza."
    }
  }
  const { code, details, message, status, tag } = Report.ofFailure(error)
  return { tag, code, status, message, details, ...isCallFailure(error) ? judge(error, tool) : judgeOther(error) }
}
