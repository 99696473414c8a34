/**
 * The request for access, decided once, and the access itself, as walks through their states.
 */
import { it } from "@effect/vitest"
import { Either, FastCheck } from "effect"
import { describe, expect } from "vitest"
import { type AccessMove, type AccessState, decide, IllegalMove, moveAccess, type RequestStatus } from "../src/DeveloperAccess.js"

describe("a request for access", () => {
  const moves = FastCheck.array(FastCheck.constantFrom("approve" as const, "decline" as const), { minLength: 1 })

  it.prop("is decided by the first decision and stays so", [moves], ([moves]) => {
    let status: RequestStatus = "pending"
    for (const [index, move] of moves.entries()) {
      const answer: Either.Either<RequestStatus, IllegalMove> = decide(status, move)
      expect(Either.isRight(answer)).toBe(index === 0)
      status = Either.getOrElse(answer, () => status)
    }
    expect(status).toBe(moves[0] === "approve" ? "approved" : "declined")
  })

  it("says which decision was not possible, and why", () => {
    expect(decide("declined", "approve")).toEqual(Either.left(new IllegalMove({ from: "declined", move: "approve" })))
    expect(new IllegalMove({ from: "declined", move: "approve" }).message).toBe(`"approve" is not possible while the state is "declined"`)
  })
})

describe("access", () => {
  const states = ["none", "granted", "suspended", "revoked"] as const
  const moves = ["grant", "suspend", "revoke", "restore"] as const
  // Every move that there is; each one that isn't here is refused.
  const table: ReadonlyArray<readonly [from: AccessState, move: AccessMove, to: AccessState]> = [
    ["none", "grant", "granted"],
    ["granted", "suspend", "suspended"],
    ["granted", "revoke", "revoked"],
    ["suspended", "revoke", "revoked"],
    ["suspended", "restore", "granted"],
    ["revoked", "restore", "granted"]
  ]

  it.each(states.flatMap((from) => moves.map((move) => [from, move] as const)))("that is %s answers %s by the table", (from, move) => {
    const to = table.find(([state, name]) => state === from && name === move)?.[2]
    expect(moveAccess(from, move)).toEqual(to === undefined ? Either.left(new IllegalMove({ from, move })) : Either.right(to))
  })

  it.prop("is never granted without an approval, and never none again after it", [FastCheck.array(FastCheck.constantFrom(...moves))], ([walk]) => {
    let state: AccessState = "none"
    let approved = false
    for (const move of walk) {
      state = Either.getOrElse(moveAccess(state, move), () => state)
      approved = approved || move === "grant"
      expect(state === "none").toBe(!approved)
    }
  })
})
