/** The ledger that a worker has open. Others read it from here, because the worker opens the ledger again after a failure. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type { Ledger } from "./Ledger.ts"

/** None while no ledger is open. */
export class CurrentLedger extends Context.Tag("@plaza/stock-sync/ledger/CurrentLedger")<
  CurrentLedger,
  Ref.Ref<Option.Option<Ledger["Type"]>>
>() {}

export const make: Effect.Effect<CurrentLedger["Type"]> = Ref.make(Option.none())

export const layer: Layer.Layer<CurrentLedger> = Layer.effect(CurrentLedger, make)

/** Makes a ledger the current one until the scope closes. */
export const set = (ledger: Ledger["Type"]) =>
  Effect.flatMap(CurrentLedger, (current) =>
    Effect.acquireRelease(Ref.set(current, Option.some(ledger)), () => Ref.set(current, Option.none())))
