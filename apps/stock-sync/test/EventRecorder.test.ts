/** What a running worker leaves in its ledger for a report. */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Option, Ref } from "effect"
import * as CurrentLedger from "../src/ledger/CurrentLedger.ts"
import { Ledger } from "../src/ledger/Ledger.ts"
import * as Open from "../src/ledger/Open.ts"
import * as EventRecorder from "../src/observability/EventRecorder.ts"
import { layer as layerState, type SyncEvent } from "../src/sync/SyncStatus.ts"
import { failure } from "./support/events.ts"
import { freshFile } from "./support/ledger/places.ts"
import { options } from "./support/ledger/using.ts"
import { happens, ledgerOpens } from "./support/statusSampler.ts"
import { utc } from "./support/utc.ts"

const recording = <A, E>(test: Effect.Effect<A, E, Layer.Success<ReturnType<typeof layer>>>) =>
  Effect.scoped(Effect.flatMap(freshFile, (path) => Effect.provide(test, layer(path))))

const layer = (path: string) =>
  EventRecorder.layer.pipe(
    Layer.provideMerge(Layer.merge(layerState, CurrentLedger.layer)),
    Layer.provideMerge(Layer.provide(Open.layer(path, options), NodeServices.layer))
  )

const paused: SyncEvent = { _tag: "AccountChanged", account: { _tag: "Paused", since: utc(0), failure: failure(), nextProbe: utc(1) } }
const running: SyncEvent = { _tag: "AccountChanged", account: { _tag: "Running", since: utc(0) } }
const unreadable: SyncEvent = {
  _tag: "SourceFailed",
  failure: failure({ about: "source", tag: "SourceUnreachable", code: undefined, message: "there is no file stock.csv" })
}

/** The recorder writes in the background. */
const written = Effect.gen(function*() {
  for (let turn = 0; turn < 50; turn++) yield* Effect.yieldNow
  const { events } = yield* Ledger
  return (yield* events).map(({ code, detail, kind }) => [kind, code, detail])
})

describe("a running worker", () => {
  it.effect("records when the account and the source fail and when that ends, and nothing while it lasts", () =>
    recording(Effect.gen(function*() {
      yield* ledgerOpens
      for (
        const event of [running, paused, paused, running, unreadable, unreadable, { _tag: "SourceUnchanged" }, {
          _tag: "SourceUnchanged"
        }] as const
      ) yield* happens(event)
      expect(yield* written).toEqual([
        ["accountPaused", "INVALID_API_KEY", "the key is revoked"],
        ["accountRunning", undefined, undefined],
        ["sourceFailed", "SourceUnreachable", "there is no file stock.csv"],
        ["sourceRead", undefined, undefined]
      ])
    })))

  it.effect("records what happened while its ledger was not open when it opens again", () =>
    recording(Effect.gen(function*() {
      yield* ledgerOpens
      const current = yield* CurrentLedger.CurrentLedger
      yield* Ref.set(current, Option.none())
      yield* happens(paused)
      expect(yield* written).toEqual([])
      yield* ledgerOpens
      expect(yield* written).toEqual([["accountPaused", "INVALID_API_KEY", "the key is revoked"]])
    })))

  it.effect("records at its start that what an earlier process left is over", () =>
    recording(Effect.gen(function*() {
      const ledger = yield* Ledger
      yield* ledger.record({ at: utc(0), kind: "accountPaused", code: "STORE_BLOCKED", detail: undefined, count: 0 })
      yield* ledger.record({ at: utc(0), kind: "sourceFailed", code: "SourceUnreachable", detail: undefined, count: 0 })
      yield* ledgerOpens
      yield* happens(running)
      yield* happens({ _tag: "SourceUnchanged" })
      expect((yield* written).map(([kind]) => kind)).toEqual(["accountPaused", "sourceFailed", "accountRunning", "sourceRead"])
    })))
})
