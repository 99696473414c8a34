/** Opens the sources of accounts. A source is kept while its account is dormant, so it must hold no connection between two reads. */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import * as LimitedSource from "../source/LimitedSource.ts"
import * as Open from "../source/Open.ts"
import type { Source, SourceFailure } from "../source/Source.ts"

export class AccountSources extends Context.Service<AccountSources, {
  /** Opens a source whose reads fail while its file settles, with `isSettling`. */
  readonly open: (options: Open.SourceOptions) => Effect.Effect<Source["Service"], SourceFailure>
}>()("@plaza/stock-sync/fleet/AccountSources") {}

/** A read takes the place of another account's. */
const longestRead = Duration.minutes(15)

/** All addresses are read by one client. */
export const layer: Layer.Layer<AccountSources, never, FileSystem.FileSystem | HttpClient.HttpClient | Path.Path> = Layer.effect(
  AccountSources,
  Effect.map(
    Effect.context<FileSystem.FileSystem | HttpClient.HttpClient | Path.Path>(),
    (context) => ({
      open: (options) =>
        Effect.map(Effect.provideContext(Open.makeShared(options), context), (source) => LimitedSource.withTime(source, longestRead))
    })
  )
)
