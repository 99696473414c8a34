/** Asks the person before a write, by the elicitation of the protocol. */
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  inputRequired,
  type InputRequiredResult,
  inputResponse,
  type ServerContext
} from "@modelcontextprotocol/server"
import * as Text from "@plaza/cli-kit/Text"
import * as Predicate from "effect/Predicate"

import type { Tool } from "./Tool.ts"
import type { ToolFailure } from "./ToolFailure.ts"

/** What to do with a write: make it, ask first, or report that it was not made. */
export type Decision =
  | { readonly _tag: "Confirmed" }
  | { readonly _tag: "Ask"; readonly question: InputRequiredResult }
  | { readonly _tag: "Refused"; readonly failure: ToolFailure }

const key = "confirm"

/**
 * The questions without an answer. A client that never answers must not fill the memory; and with fewer, a busy client could lose a question
 * that a person still reads.
 */
const maxQuestions = 1_000

const refused = (tag: string, message: string, advice: string): Decision => ({
  _tag: "Refused",
  failure: { tag, code: null, status: null, message, details: {}, outcome: "notDone", advice: `Nothing was changed. ${advice}` }
})

/** Whether the client shows forms. An empty capability means that it does. */
const hasForms = ({ mcpReq: { envelope } }: ServerContext, initialized: ClientCapabilities | undefined): boolean => {
  const { elicitation } = Predicate.hasProperty(envelope, CLIENT_CAPABILITIES_META_KEY)
    // Each request of the newer protocol has the capabilities. True because the SDK has validated them.
    ? envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities
    : initialized ?? {}
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
}

/** The arguments as a person reads them. */
const questionOf = ({ title }: Tool, args: Readonly<Record<string, unknown>>): string =>
  [
    `${title}?`,
    ...Object.entries(args).map(([name, value]) => `${name}: ${typeof value === "string" ? Text.visible(value) : Text.json(value)}`)
  ]
    .join("\n")

/** Decides on writes. Each question is for one call with these arguments, and its answer counts once. */
export const make = () => {
  const asked = new Map<string, string>()

  const ask = (tool: Tool, args: Readonly<Record<string, unknown>>, call: string): Decision => {
    const id = crypto.randomUUID()
    const [oldest] = asked.keys()
    if (asked.size >= maxQuestions && oldest !== undefined) asked.delete(oldest)
    asked.set(id, call)
    return {
      _tag: "Ask",
      question: inputRequired({
        requestState: id,
        inputRequests: {
          [key]: inputRequired.elicit({
            message: questionOf(tool, args),
            requestedSchema: {
              type: "object",
              properties: {
                [key]: { type: "boolean", title: tool.title, description: "plaza mcp does this on the account.", default: true }
              },
              required: [key]
            }
          })
        }
      })
    }
  }

  return (
    tool: Tool,
    args: Readonly<Record<string, unknown>>,
    context: ServerContext,
    initialized: ClientCapabilities | undefined
  ): Decision => {
    const { mcpReq } = context
    const call = Text.json([tool.name, args])
    const state = mcpReq.requestState()
    const isAnswer = typeof state === "string" && asked.get(state) === call
    const answer = inputResponse(mcpReq.inputResponses, key)
    if (!isAnswer || answer.kind !== "elicit") {
      return hasForms(context, initialized)
        ? ask(tool, args, call)
        : refused(
          "ConfirmationUnavailable",
          "a person must confirm each write, and this client can't ask one: it has no elicitation",
          "Do not repeat this call: a person can use a client with elicitation, or start plaza mcp without --confirm-writes."
        )
    }
    asked.delete(state)
    if (acceptedContent(mcpReq.inputResponses, key)?.[key] === true) return { _tag: "Confirmed" }
    return answer.action === "cancel"
      ? refused("NotConfirmed", "the person closed the question without an answer", "Ask the person before you call it again.")
      : refused("NotConfirmed", "the person declined the call", "Do not repeat this call unless the person asks for it.")
  }
}
