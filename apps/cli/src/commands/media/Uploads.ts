/** Uploads several files with one progress bar. Checks all of them before the first byte is sent. */
import { Explained, UsageError } from "@plaza/cli-kit/CliError"
import * as ExitCode from "@plaza/cli-kit/ExitCode"
import * as FileProblem from "@plaza/cli-kit/FileProblem"
import * as InputFile from "@plaza/cli-kit/InputFile"
import { type Bar, Progress } from "@plaza/cli-kit/Progress"
import { FailureScope, Media } from "@plaza/client"
import type { MediaId } from "@plaza/domain/Ids"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"
import * as Path from "node:path"

export interface Uploaded {
  readonly file: string
  readonly mediaId: MediaId
}

interface Failed {
  readonly file: string
  readonly failure: Media.UploadFileFailure
}

export interface Uploads {
  /** Emits each uploaded file. Never fails: see {@link Uploads.failure}. */
  readonly stream: Stream.Stream<Uploaded, never, FileSystem.FileSystem>
  /** The uploaded files so far, in the order of the arguments. */
  readonly uploaded: () => ReadonlyArray<Uploaded>
  /** The failure of the uploads, with a sentence about its consequence; none if every file is uploaded. */
  readonly failure: (consequence: string) => Option.Option<Explained>
  /** What an interruption leaves behind, with a sentence about its consequence. */
  readonly interrupted: (consequence: string) => string
  readonly bar: Bar
}

/** A file that can be uploaded. */
interface Source {
  /** As the user names it. */
  readonly file: string
  /** Where its content is. */
  readonly path: string
  readonly bytes: number
}

/** A copy of a pipe with its name, until the scope closes. It can be checked before it is sent, and sent again after a fault. */
const copyOf = (pipe: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const copy = Path.join(yield* fs.makeTempDirectoryScoped({ prefix: "plaza-upload-" }), Path.basename(pipe))
    yield* Stream.run(InputFile.bytes(pipe), Sink.mapError(fs.sink(copy), FileProblem.at(copy)))
    return copy
  })

const check = (file: string): Effect.Effect<Source, string, FileSystem.FileSystem | Scope.Scope> =>
  Effect.gen(function*() {
    if (file === "") return yield* Effect.fail("the path of a file is empty: name a file")
    const fs = yield* FileSystem.FileSystem
    const kind = yield* InputFile.kindOf(file)
    if (kind === "folder" || kind === "device") {
      return yield* Effect.fail(`${file} is ${kind === "folder" ? "a folder" : "not a regular file"}: only files can be uploaded`)
    }
    const path = kind === "pipe" ? yield* copyOf(file) : file
    const bytes = Number((yield* fs.stat(path)).size)
    return bytes === 0 ? yield* Effect.fail(`${file} is empty`) : { file, path, bytes }
  }).pipe(Effect.catchTag("PlatformError", (error) => Effect.fail(FileProblem.describe(error))))

/** The files with their sizes. Reports all invalid files at once. */
const checkAll = (files: ReadonlyArray<string>) =>
  Effect.mapError(Effect.validate(files, check), ([first, ...others]) =>
    new UsageError({ message: others.length === 0 ? first : `nothing was uploaded: ${[first, ...others].join("; ")}` }))

// Errors of the key, the account or the rate limit concern every file.
const concernsAll = ({ failure }: Failed): boolean => "category" in failure && [4, 6].includes(ExitCode.of(failure))

/** Whether the service may have stored the file. */
const isDoubtful = ({ failure }: Failed): boolean => FailureScope.mayHaveHappened(failure)

const outcomeOf = (failed: Failed): string => isDoubtful(failed) ? "may have been uploaded all the same" : "was not uploaded"

const listed = (uploaded: ReadonlyArray<Uploaded>): string => uploaded.map(({ file, mediaId }) => `${mediaId} (${file})`).join(", ")

/** The consequence, followed by the files that are uploaded. */
const summary = (uploaded: ReadonlyArray<Uploaded>, consequence: string, isDoubtful = false): string => {
  const rest = uploaded.length > 0
    ? `Use --media-id with the files that are uploaded: ${listed(uploaded)}.`
    : isDoubtful
    ? ""
    : "No file is uploaded."
  return `${consequence} ${rest}`.trim()
}

/** Adds the consequence and the uploaded files to a failure. */
export const explain = (cause: unknown, uploaded: ReadonlyArray<Uploaded>, consequence: string): Explained =>
  new Explained({ cause, details: { uploaded }, explanation: summary(uploaded, consequence) })

// Uploads are limited by the network. More of them would only share it.
const concurrency = 3

/** Checks the files. The stream then uploads them. */
export const make = (
  files: ReadonlyArray<string>
): Effect.Effect<Uploads, UsageError, FileSystem.FileSystem | Media | Progress | Scope.Scope> =>
  Effect.gen(function*() {
    const media = yield* Media
    const sources = yield* checkAll(files)
    const progress = yield* Progress
    const bar = yield* progress.bar({
      label: sources.length === 1 ? "Uploading a file" : `Uploading ${sources.length} files`,
      total: sources.reduce((sum, { bytes }) => sum + bytes, 0),
      unit: "bytes"
    })
    const sent = sources.map(() => 0)
    const results: Array<Result.Result<Uploaded, Failed> | undefined> = sources.map(() => undefined)
    const uploaded = () => Arr.getSuccesses(results.filter(Predicate.isNotUndefined))
    const failures = () => Arr.getFailures(results.filter(Predicate.isNotUndefined))

    const upload = Effect.fnUntraced(function*({ file, path }: Source, index: number) {
      // Checked before each upload: uploads in flight finish.
      if (failures().some(concernsAll)) return Result.failVoid
      const onProgress = (bytes: number) =>
        Effect.suspend(() => {
          sent[index] = bytes
          return bar.set(sent.reduce((sum, one) => sum + one, 0))
        })
      const result = Result.mapBoth(yield* Effect.result(media.uploadFile(path, { onProgress })), {
        onFailure: (failure): Failed => ({ file, failure }),
        onSuccess: ({ mediaId }): Uploaded => ({ file, mediaId })
      })
      results[index] = result
      return result
    })

    const failure = (consequence: string): Option.Option<Explained> => {
      const failed = failures()
      const [first, ...others] = failed
      if (first === undefined) return Option.none()
      const left = sources.filter((_, index) => results[index] === undefined).map(({ file }) => file)
      const sentences = [
        `${first.file} ${outcomeOf(first)}.`,
        ...others.map((failed) => `${failed.file} ${outcomeOf(failed)} (${failed.failure.message}).`),
        ...(left.length === 0 ? [] : [`Not attempted: ${left.join(", ")}.`]),
        ...(consequence === "" ? [] : [consequence])
      ]
      return Option.some(
        new Explained({
          cause: first.failure,
          details: {
            uploaded: uploaded(),
            failed: failed.map(({ failure, file }) => ({ file, tag: failure._tag, message: failure.message })),
            left
          },
          explanation: summary(uploaded(), sentences.join(" "), failed.some(isDoubtful))
        })
      )
    }

    const interrupted = (consequence: string): string => {
      // The service has a part of it at least, and no result has come.
      const doubtful = sources.filter((_, index) => results[index] === undefined && sent[index] !== 0)
      const sentences = doubtful.map(({ file }) => `${file} may have been uploaded all the same.`)
      return summary(uploaded(), [...sentences, consequence].join(" "), doubtful.length > 0)
    }

    const stream = Stream.fromIterable(sources.entries()).pipe(
      // One file per chunk, so that each is reported when it is uploaded.
      Stream.rechunk(1),
      Stream.mapEffect(([index, source]) => upload(source, index), { concurrency, unordered: true }),
      Stream.filterMap((result): Result.Result<Uploaded, unknown> => result)
    )
    return { bar, uploaded, failure, interrupted, stream }
  })
