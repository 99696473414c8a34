/**
 * The request for access, decided once, and the access itself, as sequences of transitions.
 */
import { it } from "@effect/vitest"
import { Either, FastCheck } from "effect"
import { describe, expect } from "vitest"
import {
  type AccessState,
  type AccessTransition,
  decide,
  InvalidTransition,
  type RequestStatus,
  transitionAccess
} from "../src/DeveloperAccess.ts"

describe("a request for access", () => {
  const transitions = FastCheck.array(FastCheck.constantFrom("approve" as const, "decline" as const), { minLength: 1 })

  it.prop("keeps its first decision", [transitions], ([transitions]) => {
    let status: RequestStatus = "pending"
    for (const [index, transition] of transitions.entries()) {
      const answer: Either.Either<RequestStatus, InvalidTransition> = decide(status, transition)
      expect(Either.isRight(answer)).toBe(index === 0)
      status = Either.getOrElse(answer, () => status)
    }
    expect(status).toBe(transitions[0] === "approve" ? "approved" : "declined")
  })

  it("reports the impossible decision and the reason", () => {
    expect(decide("declined", "approve")).toEqual(Either.left(new InvalidTransition({ from: "declined", transition: "approve" })))
    expect(new InvalidTransition({ from: "declined", transition: "approve" }).message).toBe(
      `"approve" is not possible while the state is "declined"`
    )
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
        to === undefined ? Either.left(new InvalidTransition({ from, transition })) : Either.right(to)
      )
    })

  it.prop("is never granted without an approval, and never none after it", [FastCheck.array(FastCheck.constantFrom(...transitions))],
    ([walk]) => {
      let state: AccessState = "none"
      let approved = false
      for (const transition of walk) {
        state = Either.getOrElse(transitionAccess(state, transition), () => state)
        approved = approved || transition === "grant"
        expect(state === "none").toBe(!approved)
      }
    })
})
