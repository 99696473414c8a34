/**
 * A file on a server as a source, with the rules of a local file. A pattern stands for the newest file that matches. Each read has a
 * connection of its own, which ends with it.
 */
import * as Format from "@plaza/tabular/Format"
import { SourceError } from "@plaza/tabular/SourceError"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Wording } from "../../Wording.ts"
import * as Rows from "../Rows.ts"
import { polled, type Source, type SourceFailure } from "../Source.ts"
import * as WholeFile from "../WholeFile.ts"
import * as Address from "./Address.ts"

/** A connection to a server. */
export interface RemoteFiles extends WholeFile.Files {
  /** The files of a folder whose names begin so. */
  readonly list: (folder: string, prefix: string) => Effect.Effect<ReadonlyArray<Address.Listed>, SourceFailure>
}

export interface RemoteOptions extends Rows.RowOptions, WholeFile.FinishedOptions {
  readonly address: Address.SftpAddress | Address.S3Address
  readonly poll: Duration.Duration
  /** Connects until the scope closes. */
  readonly connect: Effect.Effect<RemoteFiles, SourceFailure, Scope.Scope>
  /** Whether the server writes files as a whole, so that a read needs no check for a change. */
  readonly isAtomic: boolean
}

/** The path of a marker: beside the file, unless it begins with a slash. A star is the name of the file. */
const markerOf = (marker: string, file: string): string => {
  const end = file.lastIndexOf("/") + 1
  const path = marker.replaceAll("*", file.slice(end))
  return path.startsWith("/") ? path : `${file.slice(0, end)}${path}`
}

export const make = Effect.fnUntraced(function*(options: RemoteOptions) {
  const { address, connect, doneMarker, isAtomic } = options
  const { place } = yield* Wording
  const name = Address.shownPath(address, address.path)
  const unreadable = (reason: string) =>
    new SourceError({ source: name, line: undefined, message: `${name}: ${reason}. Name another source with ${place("source")}` })
  const formatOf = (path: string) => options.format ?? Format.ofName(path)
  const marker = doneMarker === undefined
    ? undefined
    : "bucket" in address
    ? (file: string) => markerOf(doneMarker, file).replace(/^\//, "")
    : (file: string) => markerOf(doneMarker, file)
  const rules = WholeFile.makeRules({
    ...options,
    path: address.path,
    name,
    lines: (path) => formatOf(path) !== "json",
    missing: address.pattern === undefined ? "there is no such file" : "there is no file with such a name",
    unreadable,
    markerOf: ({ path }) => marker?.(path) ?? "",
    attemptInterval: options.settle
  })

  /** The pattern counts as the newest file that matches. */
  const resolving = (files: RemoteFiles): WholeFile.Files => ({
    ...files,
    stat: (path) =>
      address.pattern === undefined || path !== address.path
        ? files.stat(path)
        : Effect.flatMap(files.list(address.folder, address.prefix), (listed) => {
          // A marker with a star can match too.
          const markers = new Set(marker === undefined ? [] : listed.map(({ name }) => marker(`${address.folder}${name}`)))
          const newest = Address.newestOf(address, listed.filter(({ name }) => !markers.has(`${address.folder}${name}`)))
          return newest === undefined ? Effect.succeedNone : files.stat(`${address.folder}${newest.name}`)
        })
  })

  const source: Source["Service"] = {
    name,
    changes: polled(options.poll),
    open: (accepted) =>
      Effect.gen(function*() {
        // Of this attempt: one that waits for the file is followed by another.
        const scope = yield* Scope.fork(yield* Effect.scope)
        return yield* Effect.gen(function*() {
          const files = resolving(yield* connect)
          const found = yield* rules.open(files, accepted)
          return Option.map(found, (info) => {
            const format = formatOf(info.path)
            const unchanged = isAtomic ? Stream.empty : rules.unchanged(files, info)
            return {
              version: Option.some(info.version),
              unit: Rows.unitOf(format),
              excluded: new Set<string>(),
              // A change is also the reason why rows of it are invalid.
              rows: Rows.rows(format, { ...options, source: info.name })(files.stream(info)).pipe(
                Stream.catch((failure) => Stream.concat(unchanged, Stream.fail(failure))),
                Stream.concat(unchanged)
              )
            }
          })
        }).pipe(
          Scope.provide(scope),
          Effect.onExit((exit) => Exit.isSuccess(exit) && Option.isSome(exit.value) ? Effect.void : Scope.close(scope, exit))
        )
      })
  }
  return source
})
