/** The work on an account: what its page says, and how it ends without a lease. */
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Effect, Ref } from "effect"
import type { AccountActivity } from "../../src/fleet/FleetRunner.ts"
import * as AccountWork from "../../src/fleet/operations/AccountWork.ts"
import * as StatusText from "../../src/observability/StatusText.ts"
import * as SyncStatus from "../../src/sync/SyncStatus.ts"
import { products, sends, simulated, until } from "../support/fleetRunner.ts"
import { idleUntil } from "../support/fleetStatus.ts"
import { utc } from "../support/utc.ts"

const now = { wall: utc(60_000), monotonic: 5_000 }

const idle = idleUntil(6_000)
const free = { free: 120, inFlight: 0, waiting: 0, pausedUntil: undefined, pausedOperations: [] }
const active: AccountActivity = { ...idle, active: true, rateLimit: free }
const failure = {
  at: utc(0),
  about: "account",
  productId: undefined,
  tag: "InvalidApiKey",
  code: "INVALID_API_KEY",
  message: "revoked"
} as const
const inAccountState = (account: SyncStatus.AccountState): AccountActivity => ({
  ...active,
  status: { ...SyncStatus.initial(utc(0)), account }
})

describe("the live state of an account", () => {
  const described = (activity: AccountActivity) => AccountWork.owned(activity, now)

  it.each<readonly [string, AccountActivity, string, string]>([
    ["nothing is due", idle, "Idle", "Nothing is due."],
    ["its source is due", { ...idle, nextPoll: 5_000 }, "Waiting to start", "limited number of accounts"],
    ["a product is due", { ...idle, nextDue: 4_000 }, "Waiting to start", "limited number of accounts"],
    ["its worker failed", { ...idle, nextDue: 4_000, retryAt: 65_000 }, "Waiting to retry", "Next attempt 1970-01-01 00:02:00 UTC"],
    ["its worker failed long ago", { ...idle, retryAt: 5_000 }, "Idle", "Nothing is due."],
    ["it is not taken over yet", { ...idle, takenOver: false }, "Starting", "takes the account over"],
    ["an operator paused it", { ...idle, paused: true, takenOver: false }, "Paused", "An operator paused"],
    ["its worker begins", { ...active, rateLimit: undefined }, "Working", "reads the source"],
    ["no request is due", active, "Working", "reads the source"],
    ["a request is in flight", { ...active, rateLimit: { ...free, inFlight: 1 } }, "Sending", "1 request is in flight."],
    [
      "requests are in flight and the next one waits",
      { ...active, rateLimit: { ...free, free: 0, inFlight: 3, waiting: 1 } },
      "Sending",
      "3 requests are in flight. 1 more waits for the rate limit."
    ],
    [
      "the rate limit is used up",
      { ...active, rateLimit: { ...free, free: 0, waiting: 1 } },
      "Waiting for the rate limit",
      "is used up"
    ],
    [
      "the service asked for a pause",
      { ...active, rateLimit: { ...free, waiting: 1, pausedUntil: utc(90_000) } },
      "Waiting for the rate limit",
      "Sending resumes 1970-01-01 00:01:30 UTC"
    ],
    ["its key is not known yet", inAccountState({ _tag: "Starting", since: utc(0) }), "Starting", "confirm the account"],
    [
      "the service refuses its key",
      inAccountState({ _tag: "Paused", since: utc(0), failure, nextProbe: utc(120_000) }),
      "Paused by an error",
      "INVALID_API_KEY: revoked"
    ],
    ["its quota is used up", inAccountState({ _tag: "Quota", since: utc(0), failure, until: utc(120_000) }), "Out of quota", "00:02:00"],
    [
      "its requests fail",
      inAccountState({ _tag: "Trouble", since: utc(0), failure, nextTry: utc(120_000) }),
      "Service unavailable",
      "Next attempt 1970-01-01 00:02:00 UTC"
    ]
  ])("if %s", (_, activity, label, description) => {
    const found = described(activity)
    expect(found.label).toBe(label)
    expect(StatusText.plain(found.description)).toContain(description)
  })

  it("says how to set another key in a fleet", () => {
    const action = StatusText.plain(
      described(inAccountState({ _tag: "Paused", since: utc(0), failure, nextProbe: utc(120_000) })).action
    )
    expect(action).toContain("then Developers, and set it.")
    expect(action).not.toContain("PLAZA_API_KEY")
  })

  it("has dates by the wall clock", () => {
    expect(DateTime.formatIso(AccountWork.dateOf(6_500, now) ?? utc(0))).toBe("1970-01-01T00:01:01.500Z")
    expect(AccountWork.dateOf(Number.POSITIVE_INFINITY, now)).toBeUndefined()
  })
})

describe("an account whose lease is lost", () => {
  it.effect("does not wait for the requests that were not sent, and nothing counts as confirmed that was not sent", () =>
    simulated((fleet) =>
      Effect.gen(function*() {
        yield* fleet.add("a", products("a", 200, () => 1))
        const { state } = yield* fleet.start()
        yield* until(Effect.map(sends("a"), (all) => all.length > 10))
        yield* Ref.set(fleet.isFresh, false)
        yield* until(Effect.map(state, ({ accounts }) => accounts.active === 0), "3 seconds")
        const { ledger } = (yield* fleet.account("a")).memory
        const { sending, settled } = yield* ledger.counts
        expect({ sending, settled }).toEqual({ sending: 0, settled: (yield* sends("a")).length })
      })
    ))
})

describe("an account that this runner does not own", () => {
  it.each([
    ["another runner owns it", { state: "running", runner: "two" }, "<bdi>two</bdi> owns the account"],
    ["it has just been lost", { state: "running", runner: "one" }, "This runner does not own the account any more"],
    ["its runner is lost", { state: "pending", runner: "two" }, "Its last runner, <bdi>two</bdi>, is lost"],
    ["it is new", { state: "pending", runner: null }, "No runner has worked on this account yet"],
    ["it is paused", { state: "paused", runner: "two" }, "An operator paused the account"]
  ] as const)("if %s", (_, account, text) => {
    expect(AccountWork.elsewhere(account, "one").toString()).toContain(text)
  })
})
