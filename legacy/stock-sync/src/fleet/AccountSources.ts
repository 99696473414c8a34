/** Opens the sources of accounts. A source is kept while its account is dormant, so it must hold no connection between two reads. */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as Path from "@effect/platform/Path"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as LimitedSource from "../source/LimitedSource.ts"
import * as Open from "../source/Open.ts"
import type { Source, SourceFailure } from "../source/Source.ts"

export class AccountSources extends Context.Tag("@plaza/stock-sync/fleet/AccountSources")<AccountSources, {
  readonly open: (options: Open.SourceOptions) => Effect.Effect<Source["Type"], SourceFailure>
}>() {}

/** A read takes the place of another account's. */
const longestRead = Duration.minutes(15)

/** All addresses are read by one client. */
export const layer: Layer.Layer<AccountSources, never, FileSystem.FileSystem | HttpClient.HttpClient | Path.Path> = Layer.effect(
  AccountSources,
  Effect.map(
    Effect.context<FileSystem.FileSystem | HttpClient.HttpClient | Path.Path>(),
    (context) => ({
      open: (options) =>
        Effect.map(Effect.provide(Open.makeShared(options), context), (source) => LimitedSource.withTime(source, longestRead))
    })
  )
)
