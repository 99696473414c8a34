/**
 * Files to the service, a few at a time, with one bar for all of them. What can't be uploaded is found before the first byte is sent,
 * and one that fails keeps none of the others from being told. Knows nothing of what the files are for.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import { ClientError } from "@plaza/client"
import type { FailureOf } from "@plaza/client"
import type { MediaId } from "@plaza/domain/Ids"
import { Explained, UsageError } from "@plaza/terminal/Problem"
import { type Bar, Progress } from "@plaza/terminal/Progress"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Client } from "./Connection.js"

export interface Uploaded {
  readonly file: string
  readonly mediaId: MediaId
}

interface Failed {
  readonly file: string
  readonly failure: FailureOf<"uploadMedia"> | PlatformError
}

export interface Uploads {
  /** Emits each file when it is up. Fails with nothing: see {@link Uploads.failure}. */
  readonly each: Stream.Stream<Uploaded, never, FileSystem.FileSystem>
  /** What is up already, in the order in which the files were named. */
  readonly uploaded: () => ReadonlyArray<Uploaded>
  /** What the whole ends in, once everything was tried, with a sentence on what did not happen because of it; none where all are up. */
  readonly failure: (consequence: string) => Option.Option<Explained>
  readonly bar: Bar
}

interface Sized {
  readonly file: string
  readonly bytes: number
}

const complaint = (file: string, error: PlatformError): string =>
  error._tag === "SystemError" && error.reason === "NotFound"
    ? `there is no file ${file}: check the path`
    : error._tag === "SystemError" && error.reason === "PermissionDenied"
    ? `${file} can't be opened: this user may not`
    : `${file} can't be read: ${error.message}`

const look = (file: string): Effect.Effect<Sized, string, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.zipLeft(fs.stat(file), fs.access(file, { readable: true })).pipe(
      Effect.mapError((error) => complaint(file, error)),
      Effect.flatMap(({ size, type }) =>
        type !== "File"
          ? Effect.fail(`${file} is ${type === "Directory" ? "a folder" : "no file"}, and only files are uploaded`)
          : size === FileSystem.Size(0)
          ? Effect.fail(`${file} is empty`)
          : Effect.succeed({ file, bytes: Number(size) }))
    ))

/** All that is wrong at once, so that it is corrected at once. */
const sizes = (files: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Sized>, UsageError, FileSystem.FileSystem> =>
  Effect.validateAll(files, look).pipe(
    Effect.mapError(([first, ...others]) =>
      new UsageError({ message: others.length === 0 ? first : `nothing was uploaded: ${[first, ...others].join("; ")}` }))
  )

// What is refused for one file for these reasons is refused for all of them: the key or the account, and the allowance.
const concernsAll = ({ failure }: Failed): boolean => "category" in failure && [4, 6].includes(ClientError.exitCode(failure))

const listed = (uploaded: ReadonlyArray<Uploaded>): string => uploaded.map(({ file, mediaId }) => `${mediaId} (${file})`).join(", ")

/** Which files are at the service already, behind `consequence`, a sentence on what did not happen. */
export const told = (uploaded: ReadonlyArray<Uploaded>, consequence: string): string =>
  `${consequence} ${uploaded.length === 0 ? "No file is uploaded." : `Uploaded already, to be used with --media-id: ${listed(uploaded)}.`}`.trim()

/**
 * Adds to a failure which files are at the service already, and `consequence`, a sentence on what did not happen because of it.
 */
export const explain = (cause: unknown, uploaded: ReadonlyArray<Uploaded>, consequence: string, details?: Readonly<Record<string, unknown>>): Explained =>
  new Explained({
    cause,
    details: { uploaded, ...details },
    advice: told(uploaded, consequence)
  })

// The slowest part is the line to the service; more at a time would only share it.
const atATime = 3

/** Looks at files, and then uploads them. */
export const make = (
  media: Client["media"],
  files: ReadonlyArray<string>
): Effect.Effect<Uploads, UsageError, FileSystem.FileSystem | Progress | Scope.Scope> =>
  Effect.gen(function*() {
    const sized = yield* sizes(files)
    const progress = yield* Progress
    const total = sized.reduce((sum, { bytes }) => sum + bytes, 0)
    const bar = yield* progress.bar({ label: sized.length === 1 ? "Uploading a file" : `Uploading ${sized.length} files`, total, unit: "bytes" })
    const sent = sized.map(() => 0)
    const results: Array<Uploaded | Failed | undefined> = sized.map(() => undefined)
    const isUp = (one: Uploaded | Failed | undefined): one is Uploaded => one !== undefined && "mediaId" in one
    const isFailed = (one: Uploaded | Failed | undefined): one is Failed => one !== undefined && "failure" in one

    const upload = ({ file }: Sized, index: number): Effect.Effect<Option.Option<Uploaded>, never, FileSystem.FileSystem> =>
      Effect.suspend(() => {
        // Looked at when its turn comes: what is on its way is let finish.
        if (results.some((one) => isFailed(one) && concernsAll(one))) return Effect.succeedNone
        const onProgress = (bytes: number) =>
          Effect.suspend(() => {
            sent[index] = bytes
            return bar.set(sent.reduce((sum, one) => sum + one, 0))
          })
        return Effect.match(media.uploadFile(file, { onProgress }), {
          onFailure: (failure) => {
            results[index] = { file, failure }
            return Option.none()
          },
          onSuccess: ({ mediaId }) => {
            const up = { file, mediaId }
            results[index] = up
            return Option.some(up)
          }
        })
      })

    const uploaded = () => results.filter(isUp)
    return {
      bar,
      uploaded,
      each: Stream.fromIterable(sized.entries()).pipe(
        // A file a time, so that each is told as soon as it is there.
        Stream.rechunk(1),
        Stream.mapEffect(([index, one]) => upload(one, index), { concurrency: atATime, unordered: true }),
        Stream.filterMap((one) => one)
      ),
      failure: (consequence) => {
        const [first, ...others] = results.filter(isFailed)
        if (first === undefined) return Option.none()
        const left = sized.filter((_, index) => results[index] === undefined).map(({ file }) => file)
        const what = [
          `${first.file} was not uploaded.`,
          ...others.map(({ failure, file }) => `Nor was ${file} (${failure.message}).`),
          ...(left.length === 0 ? [] : [`Not tried: ${left.join(", ")}.`]),
          ...(consequence === "" ? [] : [consequence])
        ]
        const failed = [first, ...others].map(({ failure, file }) => ({ file, tag: failure._tag, message: failure.message }))
        return Option.some(explain(first.failure, uploaded(), what.join(" "), { failed, left }))
      }
    }
  })
