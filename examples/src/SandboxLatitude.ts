/**
 * A sandbox with a latitude or other assumptions.
 */
import { Latitude, Sandbox } from "@plaza/sandbox"
import { Effect, FastCheck } from "effect"

export const delayedLists = Sandbox.layerHttpClient({ latitude: { listLagMillis: 700 } })
export const drawnFromSeed = Sandbox.layerHttpClient({ latitude: 42 })
/** For property tests. */
export const anyService = FastCheck.integer().map(Latitude.fromSeed)
/** While it runs. */
export const wholeSeconds = Effect.flatMap(Sandbox.Sandbox, ({ setLatitude }) => setLatitude({ createdAtPrecision: "seconds" }))
