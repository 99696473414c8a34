/**
 * Files to the service, one after the other, with a bar for each; the files that aren't there are found before the first is sent, and
 * what is up already is told when a later one fails. Knows nothing of what the files are for.
 *
 * @since 0.1.0
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import type { MediaId } from "@plaza/domain/Ids"
import { Explained, UsageError } from "@plaza/terminal/Problem"
import { Progress } from "@plaza/terminal/Progress"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Client } from "./Connection.js"

/** @since 0.1.0 @category models */
export interface Uploaded {
  readonly file: string
  readonly mediaId: MediaId
}

interface Upload {
  readonly file: string
  readonly bytes: number
}

const sizes = (files: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Upload>, PlatformError | UsageError, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.forEach(files, (file) =>
      Effect.flatMap(Effect.zipLeft(fs.stat(file), fs.access(file, { readable: true })), ({ size, type }) =>
        type === "File" ? Effect.succeed({ file, bytes: Number(size) }) : Effect.fail(new UsageError({ message: `${file} is not a file that can be uploaded: check the path` })))))

const upload = (media: Client["media"], { bytes, file }: Upload) =>
  Effect.scoped(Effect.gen(function*() {
    const progress = yield* Progress
    const bar = yield* progress.bar({ label: file.split(/[\\/]/).at(-1) ?? file, total: bytes, unit: "bytes" })
    const { mediaId } = yield* media.uploadFile(file, { onProgress: bar.set })
    return { file, mediaId }
  }))

const listed = (uploaded: ReadonlyArray<Uploaded>): string => uploaded.map(({ file, mediaId }) => `${mediaId} (${file})`).join(", ")

/**
 * Adds to a failure which files are at the service already, and `consequence`, a sentence on what did not happen because of it.
 *
 * @since 0.1.0
 * @category errors
 */
export const explain = (cause: unknown, uploaded: ReadonlyArray<Uploaded>, consequence: string): Explained =>
  new Explained({
    cause,
    details: { uploaded },
    advice: `${consequence} ${uploaded.length === 0 ? "No file is uploaded." : `Uploaded already, to be used with --media-id: ${listed(uploaded)}.`}`.trim()
  })

/**
 * Uploads files, and emits each when it is up.
 *
 * @since 0.1.0
 * @category uploading
 */
export const all = (
  media: Client["media"],
  files: ReadonlyArray<string>,
  consequence: string
): Stream.Stream<Uploaded, Explained | PlatformError | UsageError, FileSystem.FileSystem | Progress> =>
  Stream.unwrap(Effect.map(sizes(files), (uploads) => {
    const uploaded: Array<Uploaded> = []
    return Stream.fromIterable(uploads).pipe(
      Stream.mapEffect((one) => Effect.mapError(upload(media, one), (error) => explain(error, uploaded, `${one.file} was not uploaded. ${consequence}`.trim()))),
      Stream.tap((one) => Effect.sync(() => void uploaded.push(one)))
    )
  }))
