/**
 * The request for access, decided once, and the access itself, as sequences of transitions.
 */
import { describe, expect, it } from "@effect/vitest"
import { anyOf, arrayOf } from "@plaza/testing/Generators"
import { Result } from "effect"
import {
  type AccessState,
  type AccessTransition,
  decide,
  InvalidTransition,
  type RequestStatus,
  transitionAccess
} from "../src/DeveloperAccess.ts"

describe("a request for access", () => {
  const transitions = arrayOf(anyOf(["approve", "decline"]), { minLength: 1 })

  it.prop("keeps its first decision", [transitions], ([transitions]) => {
    let status: RequestStatus = "pending"
    for (const [index, transition] of transitions.entries()) {
      const decision: Result.Result<RequestStatus, InvalidTransition> = decide(status, transition)
      expect(Result.isSuccess(decision)).toBe(index === 0)
      status = Result.getOrElse(decision, () => status)
    }
    expect(status).toBe(transitions[0] === "approve" ? "approved" : "declined")
  })

  it("reports the impossible decision and the reason", () => {
    const refusal = Result.getOrThrow(Result.flip(decide("declined", "approve")))
    expect(refusal).toMatchObject({ _tag: "InvalidTransition", from: "declined", transition: "approve" })
    expect(refusal.message).toBe(`"approve" is not possible while the state is "declined"`)
  })
})

describe("access", () => {
  const states = ["none", "granted", "suspended", "revoked"] as const
  const transitions = ["grant", "suspend", "revoke", "restore"] as const
  // All valid transitions; any other one fails.
  const table: ReadonlyArray<readonly [from: AccessState, transition: AccessTransition, to: AccessState]> = [
    ["none", "grant", "granted"],
    ["granted", "suspend", "suspended"],
    ["granted", "revoke", "revoked"],
    ["suspended", "revoke", "revoked"],
    ["suspended", "restore", "granted"],
    ["revoked", "restore", "granted"]
  ]

  it.each(states.flatMap((from) => transitions.map((transition) => [from, transition] as const)))("that is %s handles %s as in the table",
    (from, transition) => {
      const to = table.find(([state, name]) => state === from && name === transition)?.[2]
      expect(transitionAccess(from, transition)).toEqual(
        to === undefined ? Result.fail(new InvalidTransition({ from, transition })) : Result.succeed(to)
      )
    })

  it.prop("is never granted without an approval, and never none after it", [arrayOf(anyOf(transitions))], ([walk]) => {
    let state: AccessState = "none"
    let approved = false
    for (const transition of walk) {
      state = Result.getOrElse(transitionAccess(state, transition), () => state)
      approved = approved || transition === "grant"
      expect(state === "none").toBe(!approved)
    }
  })
})
