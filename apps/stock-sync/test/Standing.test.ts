/** The state of a worker, folded from its events. */
import { describe, expect, it } from "@effect/vitest"
import { ProductId } from "@plaza/domain"
import { Chunk, Effect, Queue, TestClock } from "effect"
import { type Failure, type Happening, layer, Standing } from "../src/sync/WorkerState.js"

const failure = (message: string): Failure => ({
  at: 0,
  about: "product",
  productId: undefined,
  tag: "NotFound",
  code: "NOT_FOUND",
  message
})
const sent = (outcome: "confirmed" | "quarantined", failed?: Failure): Happening => ({
  _tag: "Sent",
  productId: ProductId.make("007"),
  priority: "soldOut",
  wasQuarantined: false,
  since: 0,
  value: 0,
  outcome,
  failure: failed
})
const figures = { catalogue: 40, soldOut: 0, fell: 0, rose: 0, missing: 0, zeroed: 0 }
const received = { rows: 3, changed: 1, rejected: 0, negative: 0, figures, goneSpared: false }
const held = { number: 1, since: 0, at: 0, figures: { ...figures, soldOut: 30 }, confirmed: false }

const standing = <A, E, R>(test: (standing: Standing["Type"]) => Effect.Effect<A, E, R>) =>
  Effect.provide(Effect.flatMap(Standing, test), layer)

describe("the state of a worker", () => {
  it.effect("counts requests by their outcome, with the time of the last", () =>
    standing((loop) =>
      Effect.gen(function*() {
        yield* loop.tell(sent("confirmed"))
        yield* TestClock.adjust("3 seconds")
        yield* loop.tell(sent("confirmed"))
        expect((yield* loop.state).sends).toMatchObject({ confirmed: { count: 2, at: 3_000 }, doubtful: { count: 0 } })
      })
    ))

  it.effect("keeps the last fifty failures, latest first, and one that is reported twice once", () =>
    standing((loop) =>
      Effect.gen(function*() {
        for (let n = 0; n < 60; n++) yield* loop.tell(sent("quarantined", failure(`refused ${n}`)))
        const last = failure("key revoked")
        yield* loop.tell(sent("quarantined", last))
        yield* loop.tell({ _tag: "AccountIs", account: { _tag: "Paused", since: 0, failure: last, nextProbe: 1 } })
        const { errors } = yield* loop.state
        expect(errors).toHaveLength(50)
        expect(errors.slice(0, 2).map(({ message }) => message)).toEqual(["key revoked", "refused 59"])
      })
    ))

  it.effect("says since when the source fails, until it is read again, and that a snapshot is held until another is taken", () =>
    standing((loop) =>
      Effect.gen(function*() {
        const sourceState = Effect.map(loop.state, ({ source }) => source)
        yield* loop.tell({ _tag: "SourceTaken", rows: 3, received })
        yield* TestClock.adjust("1 second")
        yield* loop.tell({ _tag: "SourceFailed", failure: failure("gone") })
        yield* TestClock.adjust("1 second")
        yield* loop.tell({ _tag: "SourceFailed", failure: failure("still gone") })
        expect(yield* sourceState).toMatchObject({ readAt: 0, rows: 3, failing: { since: 1_000, failure: { message: "still gone" } } })
        yield* loop.tell({ _tag: "SourceHeld", rows: 40, held, failure: failure("held") })
        yield* loop.tell({ _tag: "SourceUnchanged" })
        expect(yield* sourceState).toMatchObject({ readAt: 2_000, takenAt: 0, failing: undefined, held })
        yield* loop.tell({ _tag: "SourceTaken", rows: 40, received })
        expect(yield* sourceState).toMatchObject({ takenAt: 2_000, held: undefined })
      })
    ))

  it.effect("publishes events with their time to subscribers", () =>
    Effect.scoped(standing((loop) =>
      Effect.gen(function*() {
        yield* loop.tell(sent("confirmed"))
        const heard = yield* loop.subscribe
        yield* TestClock.adjust("5 seconds")
        yield* loop.tell({ _tag: "Stopping" })
        expect(Chunk.toReadonlyArray(yield* Queue.takeAll(heard))).toEqual([{ _tag: "Stopping", at: 5_000 }])
        expect(yield* loop.state).toMatchObject({ stopping: true })
      })
    )))
})
