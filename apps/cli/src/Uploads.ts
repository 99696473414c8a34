/**
 * Uploads several files at once with one progress bar. Checks all of them before the first byte is sent, and reports
 * every failure.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import { Explained, UsageError } from "@plaza/cli-kit/CliError"
import * as ExitCode from "@plaza/cli-kit/ExitCode"
import { type Bar, Progress } from "@plaza/cli-kit/Progress"
import type { FailureOf } from "@plaza/client"
import type { MediaId } from "@plaza/domain/Ids"
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
  /** Emits each uploaded file. Never fails: see {@link Uploads.failure}. */
  readonly each: Stream.Stream<Uploaded, never, FileSystem.FileSystem>
  /** The uploaded files so far, in the order of the arguments. */
  readonly uploaded: () => ReadonlyArray<Uploaded>
  /** The failure of the whole upload, with a sentence on its consequence; none if all files are uploaded. */
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
          : Effect.succeed({ file, bytes: Number(size) })
      )
    ))

/** Reports all invalid files at once. */
const sizes = (files: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Sized>, UsageError, FileSystem.FileSystem> =>
  Effect.validateAll(files, look).pipe(
    Effect.mapError(([first, ...others]) =>
      new UsageError({ message: others.length === 0 ? first : `nothing was uploaded: ${[first, ...others].join("; ")}` })
    )
  )

// These errors concern the key, the account or the rate limit, so they hold for all files.
const concernsAll = ({ failure }: Failed): boolean => "category" in failure && [4, 6].includes(ExitCode.of(failure))

const listed = (uploaded: ReadonlyArray<Uploaded>): string => uploaded.map(({ file, mediaId }) => `${mediaId} (${file})`).join(", ")

/** The sentence `consequence`, followed by the files that are uploaded already. */
export const summary = (uploaded: ReadonlyArray<Uploaded>, consequence: string): string =>
  `${consequence} ${uploaded.length === 0 ? "No file is uploaded." : `Uploaded already, to be used with --media-id: ${listed(uploaded)}.`}`
    .trim()

/**
 * Adds to a failure its `consequence` and the files that are uploaded already.
 */
export const explain = (
  cause: unknown,
  uploaded: ReadonlyArray<Uploaded>,
  consequence: string,
  details?: Readonly<Record<string, unknown>>
): Explained =>
  new Explained({
    cause,
    details: { uploaded, ...details },
    advice: summary(uploaded, consequence)
  })

// Uploads are bound by the network; more at a time would only share it.
const atATime = 3

/** Checks files, and then uploads them. */
export const make = (
  media: Client["media"],
  files: ReadonlyArray<string>
): Effect.Effect<Uploads, UsageError, FileSystem.FileSystem | Progress | Scope.Scope> =>
  Effect.gen(function*() {
    const sized = yield* sizes(files)
    const progress = yield* Progress
    const total = sized.reduce((sum, { bytes }) => sum + bytes, 0)
    const bar = yield* progress.bar({
      label: sized.length === 1 ? "Uploading a file" : `Uploading ${sized.length} files`,
      total,
      unit: "bytes"
    })
    const sent = sized.map(() => 0)
    const results: Array<Uploaded | Failed | undefined> = sized.map(() => undefined)
    const isUp = (one: Uploaded | Failed | undefined): one is Uploaded => one !== undefined && "mediaId" in one
    const isFailed = (one: Uploaded | Failed | undefined): one is Failed => one !== undefined && "failure" in one

    const upload = ({ file }: Sized, index: number): Effect.Effect<Option.Option<Uploaded>, never, FileSystem.FileSystem> =>
      Effect.suspend(() => {
        // Checked before each upload: uploads in flight finish.
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
        // One file per chunk, so that each is reported when it is uploaded.
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
