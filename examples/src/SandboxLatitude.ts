/**
 * A sandbox with a latitude or other assumptions.
 */
import { Latitude, Sandbox } from "@plaza/sandbox"
import { Arbitrary, Effect, Schema } from "effect"

export const delayedLists = Sandbox.layerHttpClient({ latitude: { listLagMillis: 700 } })
export const drawnFromSeed = Sandbox.layerHttpClient({ latitude: 42 })
/** For property tests. */
export const anyService = Arbitrary.map(Arbitrary.schema(Schema.Int), Latitude.fromSeed)
/** While it runs. */
export const wholeSeconds = Effect.flatMap(Sandbox.Sandbox, ({ setLatitude }) => setLatitude({ createdAtPrecision: "seconds" }))
