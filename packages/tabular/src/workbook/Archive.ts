/** Opens the zip archive of a workbook in memory, and reads its parts as streams. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Readable } from "node:stream"
import { crc32 } from "node:zlib"
import { type Entry, fromRandomAccessReader, RandomAccessReader, type ZipFile } from "yauzl"
import * as SourceError from "../SourceError.ts"

export interface Archive {
  /** The name of the source in messages. */
  readonly source: string
  /** The path of a part as the archive has it; undefined if there is none. Letter case does not matter. */
  readonly find: (path: string) => string | undefined
  /** Whether the path of any part matches. */
  readonly some: (pattern: RegExp) => boolean
  /** The bytes of a part that `find` returned. Fails if they are damaged or too many. */
  readonly read: (path: string) => Stream.Stream<Uint8Array, SourceError.SourceError>
}

/** The largest workbook, as it is stored. A sheet with a million rows and 10 columns has 60 MiB. */
export const maxBytes = 128 * 1_048_576

// Sheets compress by a factor of 5 to 40. Small parts are accepted at any ratio, as with gzip.
const uncheckedBytes = 64 * 1_048_576
const maxRatio = 300
// A sheet with every row and some columns of Excel has less than 1 GiB.
const maxPartBytes = 4 * 1_073_741_824
// Real workbooks have a few hundred, with a picture for each product some thousands.
const maxParts = 100_000

const again = "export or transfer it again"

const blockSize = 1_048_576

/** Bytes in blocks. One buffer would be copied as it grows, and the copies would count for the memory. */
class Blocks extends RandomAccessReader {
  private readonly blocks: Array<Buffer> = []
  size = 0

  add(chunk: Uint8Array): void {
    for (let from = 0; from < chunk.length;) {
      const start = this.size % blockSize
      const block = start === 0 ? Buffer.allocUnsafeSlow(blockSize) : this.blocks.at(-1)
      if (block === undefined) return
      if (start === 0) this.blocks.push(block)
      const part = chunk.subarray(from, from + blockSize - start)
      block.set(part, start)
      from += part.length
      this.size += part.length
    }
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(this.between(start, end))
  }

  private *between(start: number, end: number): Generator<Uint8Array> {
    for (let from = start; from < end;) {
      const to = Math.min(end, from - from % blockSize + blockSize)
      const block = this.blocks[Math.floor(from / blockSize)]
      if (block === undefined) return
      yield block.subarray(from % blockSize, from % blockSize + to - from)
      from = to
    }
  }
}

const collect = <E, R>(source: string, bytes: Stream.Stream<Uint8Array, E, R>): Effect.Effect<Blocks, E | SourceError.SourceError, R> =>
  Effect.suspend(() => {
    const blocks = new Blocks()
    return bytes.pipe(
      Stream.runForEach((chunk) => {
        blocks.add(chunk)
        return blocks.size > maxBytes
          ? Effect.fail(
            SourceError.content(
              source,
              `the workbook is larger than ${maxBytes / 1_048_576} MiB: remove its pictures, or save the sheet as CSV UTF-8`
            )
          )
          : Effect.void
      }),
      Effect.as(blocks)
    )
  })

const directory = (source: string, blocks: Blocks) =>
  Effect.callback<{ readonly zip: ZipFile; readonly entries: ReadonlyMap<string, Entry> }, SourceError.SourceError>((resume) => {
    const fail = (reason: string) => resume(Effect.fail(SourceError.content(source, reason)))
    fromRandomAccessReader(blocks, blocks.size, { autoClose: false, lazyEntries: true }, (error: Error | null, zip) => {
      if (error) {
        // The directory is at the end, so that the beginning of an archive has none.
        const isCut = /end of central directory/i.test(error.message)
        return fail(
          `it is an Excel workbook or another zip archive, and ${isCut ? "not complete" : `damaged (${error.message})`}: ${again}`
        )
      }
      const entries = new Map<string, Entry>()
      zip.on("error", (error: Error) => fail(`the zip archive of the workbook is damaged (${error.message}): ${again}`))
      zip.on("entry", (entry: Entry) => {
        if (entries.size >= maxParts) return fail(`its zip archive has more than ${maxParts.toLocaleString("en")} parts`)
        const name = entry.fileName.toLowerCase()
        if (entries.has(name)) return fail(`its zip archive has two parts with the name ${entry.fileName}: ${again}`)
        entries.set(name, entry)
        zip.readEntry()
      })
      zip.on("end", () => resume(Effect.succeed({ zip, entries })))
      zip.readEntry()
    })
  })

/** Reads all bytes into memory, because the directory of a zip archive is at its end. */
export const open = Effect.fnUntraced(function*<E, R>(source: string, bytes: Stream.Stream<Uint8Array, E, R>) {
  const { entries, zip } = yield* directory(source, yield* collect(source, bytes))
  const fail = (reason: string) => SourceError.content(source, reason)
  const damaged = (name: string, error: unknown) =>
    fail(`its part ${name} is damaged (${error instanceof Error ? error.message : String(error)}): ${again}`)

  const refusal = ({ compressedSize, uncompressedSize, ...entry }: Entry, isEncrypted: boolean): string | undefined =>
    isEncrypted
      ? "the workbook is protected by a password: save it without the password"
      : uncompressedSize > maxPartBytes || (uncompressedSize > uncheckedBytes && uncompressedSize > compressedSize * maxRatio)
      ? `its part ${entry.fileName} decompresses to ${
        Math.round(uncompressedSize / 1_048_576).toLocaleString("en")
      } MiB, which is no sheet: save the sheet as CSV UTF-8`
      : undefined

  const openPart = (entry: Entry) =>
    Effect.callback<Readable, SourceError.SourceError>((resume) => {
      const reason = refusal(entry, entry.isEncrypted())
      if (reason !== undefined) return resume(Effect.fail(fail(reason)))
      zip.openReadStream(entry, (error, stream) => resume(error ? Effect.fail(damaged(entry.fileName, error)) : Effect.succeed(stream)))
    })

  // The checksum is checked here: yauzl checks only the size.
  const checked = (entry: Entry, stream: Readable): Stream.Stream<Uint8Array, SourceError.SourceError> => {
    let sum = 0
    return Stream.fromAsyncIterable<Uint8Array, SourceError.SourceError>(stream, (error) => damaged(entry.fileName, error)).pipe(
      Stream.map((chunk) => {
        sum = crc32(chunk, sum)
        return chunk
      }),
      Stream.concat(
        Stream.suspend(() => sum === entry.crc32 ? Stream.empty : Stream.fail(damaged(entry.fileName, new Error("its checksum differs"))))
      )
    )
  }

  const archive: Archive = {
    source,
    find: (path) => {
      const name = path.replace(/^\//, "").toLowerCase()
      return entries.has(name) ? name : undefined
    },
    some: (pattern) => Array.from(entries.keys()).some((name) => pattern.test(name)),
    read: (path) => {
      const entry = entries.get(path)
      return entry === undefined
        ? Stream.fail(fail(`its part ${path} is missing: ${again}`))
        : Stream.unwrap(Effect.map(openPart(entry), (stream) => checked(entry, stream)))
    }
  }
  return archive
})
