/** Runs what a command does with the services of the client. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { connection } from "../Globals.ts"
import * as Connection from "../profiles/Connection.ts"
import * as WaitNote from "./WaitNote.ts"
import * as Write from "./Write.ts"

/** The services of the client, for the account that the flags select. */
export const layer = ({ transform = (client) => client, ...options }: Connection.Options = {}) =>
  Layer.unwrap(
    Effect.map(connection, (flags) => Connection.layer(flags, { ...options, transform: (client) => Write.observed(transform(client)) }))
  )

/** Provides the services. A person sees when the command waits for the rate limit. */
export const provide = (options?: Connection.Options) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.provide(WaitNote.during(effect), layer(options))

/** Provides the services to an import or an upload. It shows a progress bar, across which a note would be written. */
export const provideWithBar = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, layer({ isLong: true }))
