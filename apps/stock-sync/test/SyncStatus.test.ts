/** The state of a worker, folded from its events. */
import { describe, expect, it } from "@effect/vitest"
import { ProductId } from "@plaza/domain"
import { Effect, PubSub } from "effect"
import { TestClock } from "effect/testing"
import { type Failure, layer, type SyncEvent, SyncStatus } from "../src/sync/SyncStatus.ts"
import { utc } from "./support/utc.ts"

const failure = (message: string): Failure => ({
  at: utc(0),
  about: "product",
  productId: undefined,
  tag: "NotFound",
  code: "NOT_FOUND",
  message
})
const sent = (outcome: "confirmed" | "quarantined", failed?: Failure): SyncEvent => ({
  _tag: "Sent",
  productId: ProductId.make("007"),
  priority: "soldOut",
  wasQuarantined: false,
  wasUncertain: false,
  since: utc(0),
  value: 0,
  outcome,
  failure: failed
})
const figures = { catalogue: 40, soldOut: 0, fell: 0, rose: 0, missing: 0, zeroed: 0, reverted: 0 }
const result = { rows: 3, changed: 1, rejected: 0, negative: 0, figures, missingKept: false }
const held = { number: 1, since: utc(0), at: utc(0), figures: { ...figures, soldOut: 30 }, confirmed: false }

const status = <A, E, R>(test: (status: SyncStatus["Service"]) => Effect.Effect<A, E, R>) =>
  Effect.provide(Effect.flatMap(SyncStatus, test), layer)

describe("the state of a worker", () => {
  it.effect("counts requests by their outcome, with the time of the last", () =>
    status((status) =>
      Effect.gen(function*() {
        yield* status.publish(sent("confirmed"))
        yield* TestClock.adjust("3 seconds")
        yield* status.publish(sent("confirmed"))
        expect((yield* status.state).sends).toMatchObject({ confirmed: { count: 2, at: utc(3_000) }, doubtful: { count: 0 } })
      })
    ))

  it.effect("keeps the last fifty failures, latest first, and one that is reported twice once", () =>
    status((status) =>
      Effect.gen(function*() {
        for (let n = 0; n < 60; n++) yield* status.publish(sent("quarantined", failure(`refused ${n}`)))
        const last = failure("key revoked")
        yield* status.publish(sent("quarantined", last))
        yield* status.publish({ _tag: "AccountChanged", account: { _tag: "Paused", since: utc(0), failure: last, nextProbe: utc(1) } })
        const { errors } = yield* status.state
        expect(errors).toHaveLength(50)
        expect(errors.slice(0, 2).map(({ message }) => message)).toEqual(["key revoked", "refused 59"])
      })
    ))

  it.effect("says since when the source fails, until it is read again, and that a snapshot is held until another is taken", () =>
    status((status) =>
      Effect.gen(function*() {
        const sourceState = Effect.map(status.state, ({ source }) => source)
        yield* status.publish({ _tag: "SnapshotAccepted", rows: 3, result })
        yield* TestClock.adjust("1 second")
        yield* status.publish({ _tag: "SourceFailed", failure: failure("gone") })
        yield* TestClock.adjust("1 second")
        yield* status.publish({ _tag: "SourceFailed", failure: failure("still gone") })
        expect(yield* sourceState).toMatchObject({
          readAt: utc(0),
          rows: 3,
          failing: { since: utc(1_000), failure: { message: "still gone" } }
        })
        yield* status.publish({ _tag: "SnapshotHeld", rows: 40, held, failure: failure("held") })
        yield* status.publish({ _tag: "SourceUnchanged" })
        expect(yield* sourceState).toMatchObject({ readAt: utc(2_000), takenAt: utc(0), failing: undefined, held })
        yield* status.publish({ _tag: "SnapshotAccepted", rows: 40, result })
        expect(yield* sourceState).toMatchObject({ takenAt: utc(2_000), held: undefined })
      })
    ))

  it.effect("publishes events with their time to subscribers", () =>
    Effect.scoped(status((status) =>
      Effect.gen(function*() {
        yield* status.publish(sent("confirmed"))
        const heard = yield* status.subscribe
        yield* TestClock.adjust("5 seconds")
        yield* status.publish({ _tag: "Stopping" })
        expect(yield* PubSub.takeAll(heard)).toEqual([{ _tag: "Stopping", at: utc(5_000) }])
        expect(yield* status.state).toMatchObject({ stopping: true })
      })
    )))
})
