/** Uploads several files with one progress bar. Checks all of them before the first byte is sent. */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import { type FailureOf, FailureScope, Media } from "@plaza-legacy/client"
import type { MediaId } from "@plaza-legacy/domain/Ids"
import { Explained, UsageError } from "@plaza/cli-kit/CliError"
import * as ExitCode from "@plaza/cli-kit/ExitCode"
import { type Bar, Progress } from "@plaza/cli-kit/Progress"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

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
  readonly stream: Stream.Stream<Uploaded, never, FileSystem.FileSystem>
  /** The uploaded files so far, in the order of the arguments. */
  readonly uploaded: () => ReadonlyArray<Uploaded>
  /** The failure of the uploads, with a sentence about its consequence; none if every file is uploaded. */
  readonly failure: (consequence: string) => Option.Option<Explained>
  readonly bar: Bar
}

interface Sized {
  readonly file: string
  readonly bytes: number
}

const messageOf = (file: string, error: PlatformError): string =>
  error._tag === "SystemError" && error.reason === "NotFound"
    ? `${file} does not exist: check the path`
    : error._tag === "SystemError" && error.reason === "PermissionDenied"
    ? `permission denied for ${file}: check its owner and mode`
    : `${file} can't be read: ${error.message}`

const inspect = (file: string): Effect.Effect<Sized, string, FileSystem.FileSystem> =>
  file === "" ?
    Effect.fail("the path of a file is empty: name a file") :
    Effect.flatMap(FileSystem.FileSystem, (fs) =>
      Effect.zipLeft(fs.stat(file), fs.access(file, { readable: true })).pipe(
        Effect.mapError((error) => messageOf(file, error)),
        Effect.flatMap(({ size, type }) =>
          type !== "File"
            ? Effect.fail(`${file} is ${type === "Directory" ? "a folder" : "not a regular file"}: only files can be uploaded`)
            : size === FileSystem.Size(0)
            ? Effect.fail(`${file} is empty`)
            : Effect.succeed({ file, bytes: Number(size) })
        )
      ))

/** The sizes of the files. Reports all invalid files at once. */
const sizes = (files: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Sized>, UsageError, FileSystem.FileSystem> =>
  Effect.validateAll(files, inspect).pipe(
    Effect.mapError(([first, ...others]) =>
      new UsageError({ message: others.length === 0 ? first : `nothing was uploaded: ${[first, ...others].join("; ")}` })
    )
  )

// Errors of the key, the account or the rate limit concern every file.
const concernsAll = ({ failure }: Failed): boolean => "category" in failure && [4, 6].includes(ExitCode.of(failure))

const listed = (uploaded: ReadonlyArray<Uploaded>): string => uploaded.map(({ file, mediaId }) => `${mediaId} (${file})`).join(", ")

/** The consequence, followed by the files that are uploaded. */
export const summary = (uploaded: ReadonlyArray<Uploaded>, consequence: string, isDoubtful = false): string =>
  `${consequence} ${
    uploaded.length > 0
      ? `Use --media-id with the files that are uploaded: ${listed(uploaded)}.`
      : isDoubtful
      ? ""
      : "No file is uploaded."
  }`
    .trim()

/** Whether the service may have stored the file. */
const isDoubtful = ({ failure }: Failed): boolean => FailureScope.mayHaveHappened(failure)

const outcomeOf = (failed: Failed): string => isDoubtful(failed) ? "may have been uploaded all the same" : "was not uploaded"

/** Adds the consequence and the uploaded files to a failure. */
export const explain = (
  cause: unknown,
  uploaded: ReadonlyArray<Uploaded>,
  consequence: string
): Explained =>
  new Explained({
    cause,
    details: { uploaded },
    explanation: summary(uploaded, consequence)
  })

// Uploads are limited by the network. More of them would only share it.
const concurrency = 3

/** Checks the files. The stream then uploads them. */
export const make = (
  files: ReadonlyArray<string>
): Effect.Effect<Uploads, UsageError, FileSystem.FileSystem | Media | Progress | Scope.Scope> =>
  Effect.gen(function*() {
    const media = yield* Media
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
    const isUploaded = (one: Uploaded | Failed | undefined): one is Uploaded => one !== undefined && "mediaId" in one
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
            const result = { file, mediaId }
            results[index] = result
            return Option.some(result)
          }
        })
      })

    const uploaded = () => results.filter(isUploaded)
    return {
      bar,
      uploaded,
      stream: Stream.fromIterable(sized.entries()).pipe(
        // One file per chunk, so that each is reported when it is uploaded.
        Stream.rechunk(1),
        Stream.mapEffect(([index, one]) => upload(one, index), { concurrency, unordered: true }),
        Stream.filterMap((one) => one)
      ),
      failure: (consequence) => {
        const [first, ...others] = results.filter(isFailed)
        if (first === undefined) return Option.none()
        const left = sized.filter((_, index) => results[index] === undefined).map(({ file }) => file)
        const sentences = [
          `${first.file} ${outcomeOf(first)}.`,
          ...others.map((failed) => `${failed.file} ${outcomeOf(failed)} (${failed.failure.message}).`),
          ...(left.length === 0 ? [] : [`Not attempted: ${left.join(", ")}.`]),
          ...(consequence === "" ? [] : [consequence])
        ]
        const failed = [first, ...others].map(({ failure, file }) => ({ file, tag: failure._tag, message: failure.message }))
        return Option.some(
          new Explained({
            cause: first.failure,
            details: { uploaded: uploaded(), failed, left },
            explanation: summary(uploaded(), sentences.join(" "), [first, ...others].some(isDoubtful))
          })
        )
      }
    }
  })
