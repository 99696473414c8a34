/**
 * From the text of `--source` to rows: a path of a CSV file, or `-` for what is piped in. Knows nothing of what is done with them.
 *
 * @since 0.1.0
 */
import * as FileSystem from "@effect/platform/FileSystem"
import type { PlatformError } from "@effect/platform/Error"
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { type Row, SourceRefused } from "../Source.js"
import * as Csv from "./Csv.js"

/** @since 0.1.0 @category models */
export interface SourceOptions {
  /** A path, or `-`. */
  readonly source: string
  readonly idColumn: string
  readonly stockColumn: string
}

/**
 * The rows of a source.
 *
 * @since 0.1.0
 * @category streams
 */
export const open = ({ idColumn, source, stockColumn }: SourceOptions): Stream.Stream<Row, SourceRefused, FileSystem.FileSystem> =>
  source === "-"
    ? NodeStream.stdin.pipe(Csv.rows({ source: "stdin", idColumn, stockColumn }))
    : Stream.unwrap(Effect.map(FileSystem.FileSystem, (files) => files.stream(source))).pipe(
      Stream.mapError((error) => unreadable(source, error)),
      Csv.rows({ source, idColumn, stockColumn })
    )

const unreadable = (source: string, error: PlatformError): SourceRefused => {
  const why = error._tag === "SystemError" && error.reason === "NotFound"
    ? "there is no such file"
    : error._tag === "SystemError" && error.reason === "PermissionDenied"
    ? "this user may not read it"
    : error._tag === "SystemError" && /EISDIR|directory/i.test(error.message)
    ? "it is a folder, not a CSV file"
    : `it can't be read (${error.message})`
  return new SourceRefused({ source, line: undefined, message: `${source}: ${why}. Name a CSV file with --source or STOCK_SYNC_SOURCE` })
}
