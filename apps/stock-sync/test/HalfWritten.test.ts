/**
 * Files that their writers have not finished, in virtual time: the same rules for files of this machine and of servers.
 */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, Clock, DateTime, Duration, Effect, Exit, Fiber, FileSystem, Option, type Path, Result, Stream } from "effect"
import { TestClock } from "effect/testing"
import { gzipSync } from "node:zlib"
import * as File from "../src/source/File.ts"
import * as Open from "../src/source/Open.ts"
import * as Address from "../src/source/remote/Address.ts"
import * as RemoteFile from "../src/source/remote/RemoteFile.ts"
import * as Sftp from "../src/source/remote/Sftp.ts"
import type { Source, SourceFailure } from "../src/source/Source.ts"
import type * as WholeFile from "../src/source/WholeFile.ts"
import { advance } from "./support/advance.ts"
import * as OneFolder from "./support/oneFolder.ts"
import { all, containing, good, hurried, poll } from "./support/reading.ts"
import { serving } from "./support/serving.ts"

const columns = { idColumn: "productId", stockColumn: "stock", poll: Duration.minutes(10) }
const whole = "productId,stock\nSKU-1,150\nSKU-12,7\n"
const half = "productId,stock\nSKU-1,1"
const noon = Date.UTC(2026, 10, 22, 12)

const unread = { _tag: "None" }
const result = (rows: ReadonlyArray<unknown>) => ({ value: { value: { _tag: "Success", success: rows } } })
const failure = (text: string) => ({
  value: { value: { _tag: "Failure", failure: { _tag: "SourceUnreachable", message: containing(text) } } }
})
const rows = [good(2, "SKU-1", 150), good(3, "SKU-12", 7)]

type Files = FileSystem.FileSystem | Path.Path

interface Place {
  readonly name: string
  readonly make: (options: File.FileOptions) => Effect.Effect<Source["Service"], SourceFailure, Files>
  /** How long a file of any age is looked at before it is read, in milliseconds. */
  readonly look: number
  /** The time between two attempts of a reader of many files, in milliseconds. */
  readonly attempts: number
  /** Until when a last line that was written ten seconds before noon is waited for. */
  readonly lineUntil: string
  /** Whether a file that takes the place of another is recognised, and is complete. */
  readonly recognisesReplacements: boolean
}

/** A folder of a server, for which another one stands. */
const remote = (
  addressOf: (path: string) => Result.Result<Address.S3Address | Address.SftpAddress, string>,
  infoOf: (address: Address.S3Address | Address.SftpAddress, path: string, info: FileSystem.File.Info) => WholeFile.FileInfo
): Place["make"] =>
  Effect.fnUntraced(function*(options: File.FileOptions) {
    const fs = yield* FileSystem.FileSystem
    const address = Result.getOrThrow(addressOf(options.path))
    const onFolder = (path: string) => path.startsWith("/") ? path : `/${path}`
    const files: RemoteFile.RemoteFiles = {
      stat: (path) => Effect.option(Effect.map(fs.stat(onFolder(path)), (info) => infoOf(address, path, info))),
      stream: ({ path }) => Stream.orDie(fs.stream(onFolder(path))),
      bytes: ({ path }, position, count) =>
        Effect.flatMap(fs.open(onFolder(path)), (file) => file.readAlloc(count, { position })).pipe(
          Effect.map(Option.getOrElse(() => new Uint8Array())),
          Effect.scoped,
          Effect.orDie
        ),
      list: () => Effect.succeed([])
    }
    return yield* RemoteFile.make({ ...options, address, connect: Effect.succeed(files), isAtomic: false })
  })

const timeOf = (info: FileSystem.File.Info) => Option.getOrThrow(info.mtime).getTime()

const places: ReadonlyArray<Place> = [
  {
    name: "of this machine",
    make: File.make,
    look: 0,
    attempts: 1_000,
    lineUntil: "2026-11-22T12:00:50.000Z",
    recognisesReplacements: true
  },
  {
    name: "of an SFTP server",
    make: remote(
      (path) => Address.parseSftp(`sftp://user@host${path}`, ""),
      (address, path, info) =>
        // All addresses of this place are of SFTP.
        Sftp.infoOf(address as Address.SftpAddress, path, {
          isFile: () => true,
          isDirectory: () => false,
          // The clock of the server is an hour ahead.
          mtime: Math.floor(timeOf(info) / 1_000) + 3_600,
          size: Number(info.size)
        })
    ),
    look: 5_000,
    attempts: 5_000,
    lineUntil: "2026-11-22T12:01:00.000Z",
    recognisesReplacements: false
  },
  {
    name: "of an S3 server",
    make: remote(
      (path) => Address.parseS3(`s3://bucket${path}`, ""),
      (address, path, info) => ({
        type: "file",
        path,
        name: Address.shownPath(address, path),
        version: `${timeOf(info)} ${info.size}`,
        identity: "",
        size: info.size,
        mtime: timeOf(info) + 3_600_000,
        writtenAt: timeOf(info)
      })
    ),
    look: 0,
    attempts: 5_000,
    lineUntil: "2026-11-22T12:00:50.000Z",
    recognisesReplacements: false
  }
]

describe.each(places)("a file $name", (place) => {
  /** A folder with a source over one of its files, at noon. */
  const world = (options: Partial<File.FileOptions> = {}) =>
    Effect.gen(function*() {
      yield* TestClock.setTime(noon)
      const folder = OneFolder.make()
      const path = options.path ?? "/in/stock.csv"
      const given = { ...columns, settle: Duration.seconds(5), unfinishedWait: Duration.minutes(1), path, ...options }
      const source = yield* Effect.provide(place.make(given), folder.layer)
      const read = Effect.scoped(Effect.flatMap(source.open(Option.none()), (snapshot) => all(Option.getOrThrow(snapshot).rows)))
      const opened = Effect.scoped(source.open(Option.none()))
      return {
        ...folder,
        path,
        source,
        /** Reads it beside the test. */
        reading: Effect.forkChild(Effect.result(read)),
        /** Opens it, however long it is looked at. */
        opened: Effect.flatMap(Effect.forkChild(opened), (fiber) => Effect.andThen(advance(place.look), Fiber.join(fiber)))
      }
    })

  describe("a file that is being written", () => {
    it.effect("is read once it has stayed unchanged for the settle time", () =>
      Effect.gen(function*() {
        const { path, reading, write } = yield* world()
        yield* write(path, half)
        const fiber = yield* reading
        yield* advance("3 seconds")
        // The writer paused for longer than a second.
        yield* write(path, whole)
        yield* advance("4 seconds")
        expect(yield* poll(fiber)).toMatchObject(unread)
        yield* advance("2 seconds")
        expect(yield* poll(fiber)).toMatchObject(result(rows))
      }))

    it.effect("is read at once if it is known to be older than the settle time, else after that time", () =>
      Effect.gen(function*() {
        const { path, reading, write } = yield* world()
        yield* write(path, whole, noon - 6_000)
        const fiber = yield* reading
        if (place.look > 0) {
          yield* advance(place.look - 1)
          expect(yield* poll(fiber)).toMatchObject(unread)
        }
        yield* advance(Math.min(place.look, 1))
        expect(yield* poll(fiber)).toMatchObject(result(rows))
      }))

    it.effect("is read at once without a settle time", () =>
      Effect.gen(function*() {
        const { path, reading, write } = yield* world({ settle: Duration.zero })
        yield* write(path, whole)
        const fiber = yield* reading
        yield* advance(0)
        expect(yield* poll(fiber)).toMatchObject(result(rows))
      }))

    it.effect("has to settle in sight of this process if its time is old but it has come just now", () =>
      Effect.gen(function*() {
        const { opened, path, reading, replace, write } = yield* world()
        yield* write(path, whole, noon - 60_000)
        expect(yield* opened).toMatchObject({ _tag: "Some" })
        yield* replace(path, whole, noon - 50_000)
        const fiber = yield* reading
        yield* advance("4 seconds")
        expect(yield* poll(fiber)).toMatchObject(unread)
        yield* advance("1 second")
        expect(yield* poll(fiber)).toMatchObject(result(rows))
      }))

    it.effect("settles by this machine's clock if its time lies in the future", () =>
      Effect.gen(function*() {
        const { path, reading, write } = yield* world()
        yield* write(path, whole, noon + 3_600_000)
        const fiber = yield* reading
        yield* advance("5 seconds")
        expect(yield* poll(fiber)).toMatchObject(result(rows))
      }))

    it.effect("without end is reported, and not read", () =>
      Effect.gen(function*() {
        const { path, reading, write } = yield* world()
        yield* write(path, half)
        const fiber = yield* reading
        for (let seconds = 0; seconds < 70; seconds++) {
          yield* write(path, `${half}${"0".repeat(seconds)}`)
          yield* advance("1 second")
        }
        expect(yield* poll(fiber)).toMatchObject(failure("it is still being written: it has not stayed unchanged for 5s"))
      }))

    if (place.recognisesReplacements) {
      it.effect("is read every ten seconds if it is only ever replaced by another one", () =>
        Effect.gen(function*() {
          const { path, reading, replace } = yield* world()
          yield* replace(path, whole)
          const fiber = yield* reading
          for (let seconds = 0; seconds < 12; seconds++) {
            yield* replace(path, whole)
            yield* advance("1 second")
          }
          expect(yield* poll(fiber)).toMatchObject(result(rows))
        }))
    }

    /** Writes the file in place again and again, for so many seconds: each content for a time in milliseconds. */
    const written = (
      { path, write }: Pick<Effect.Success<ReturnType<typeof world>>, "path" | "write">,
      seconds: number,
      contents: (round: number) => ReadonlyArray<readonly [content: string, millis: number]>
    ) =>
      Effect.gen(function*() {
        const end = (yield* Clock.currentTimeMillis) + seconds * 1_000
        for (let round = 0; (yield* Clock.currentTimeMillis) < end; round++) {
          for (const [content, millis] of contents(round)) {
            yield* write(path, content)
            yield* advance(millis)
          }
        }
      })

    it.effect("is read about every ten seconds if it is rewritten in place every two seconds", () =>
      Effect.gen(function*() {
        const folder = yield* world()
        yield* folder.write(folder.path, whole)
        const fiber = yield* folder.reading
        yield* written(folder, 8, () => [[whole, 2_000]])
        expect(yield* poll(fiber)).toMatchObject(unread)
        yield* written(folder, 6, () => [[whole, 2_000]])
        expect(yield* poll(fiber)).toMatchObject(result(rows))
      }))

    const millis = (shortest: number, longest: number) =>
      Arbitrary.map(Generate.between(shortest / 100, longest / 100), (tenths) => tenths * 100)
    // The first part stays for long, the second misses only the last line.
    it.effect.prop("is read in full, or not at all, if it is rewritten in parts all the time, each of which ends with a line", [
      millis(100, 3_000),
      millis(100, 900),
      millis(1_000, 3_000)
    ], ([first, second, last]) =>
      Effect.gen(function*() {
        const folder = yield* world()
        const lines = ["productId,stock\n", ...Array.from({ length: 40 }, (_, index) => `SKU-${index},1\n`)]
        const file = (count: number) => lines.slice(0, count).join("")
        yield* folder.write(folder.path, file(41))
        const fiber = yield* folder.reading
        yield* written(folder, 67, () => [[file(20), first], [file(40), second], [file(41), last]])
        const read = yield* Fiber.join(fiber)
        if (Result.isSuccess(read)) expect(read.success).toHaveLength(40)
      }), { arbitrary: { runs: 30 } })

    it.effect("is not read while it only becomes longer, although each part ends with a line", () =>
      Effect.gen(function*() {
        const folder = yield* world()
        yield* folder.write(folder.path, whole)
        const fiber = yield* folder.reading
        yield* written(folder, 70, (round) => [[`${whole}${"SKU-1,2\n".repeat(round + 1)}`, 2_000]])
        expect(yield* poll(fiber)).toMatchObject(failure("it is still being written"))
      }))

    it.effect("is not read by a reader of many files, which receives the time to open it again", () =>
      Effect.gen(function*() {
        const { path, source, write } = yield* world({ whileSettling: "fail" })
        yield* write(path, half)
        const opened = Effect.scoped(Effect.result(source.open(Option.none())))
        const settling = (retryAt: number) => ({ failure: { isSettling: true, retryAt: DateTime.makeUnsafe(retryAt) } })
        expect(yield* opened).toMatchObject(settling(noon + place.attempts))
        yield* advance("1 second")
        yield* write(path, whole)
        yield* advance("3500 millis")
        expect(yield* opened).toMatchObject(settling(noon + 4_500 + place.attempts))
        yield* advance("5 seconds")
        expect(yield* opened).toMatchObject({ success: { _tag: "Some" } })
      }))

    it.effect("is read again soon, without a failure, if it is written all the time and changed while a reader of many files read it", () =>
      Effect.gen(function*() {
        const folder = yield* world({ whileSettling: "fail" })
        /** Opens the file four times a second until that succeeds, at most for so many seconds, and writes it every two seconds. */
        const untilOpened = (seconds: number) =>
          Effect.gen(function*() {
            for (let quarters = 0; quarters < seconds * 4; quarters++) {
              if (quarters % 8 === 0) yield* folder.write(folder.path, whole)
              const found = Option.flatten(yield* Effect.option(folder.source.open(Option.none())))
              if (Option.isSome(found)) return found.value
              yield* advance(250)
            }
            return yield* Effect.die("not read")
          })
        const first = yield* untilOpened(13)
        yield* advance(100)
        yield* folder.write(folder.path, whole)
        expect(yield* Effect.flip(all(first.rows))).toMatchObject({ _tag: "SourceUnreachable", isSettling: true })
        const second = yield* untilOpened(3)
        expect(yield* all(second.rows)).toEqual(rows)
        // Then not before the next ten seconds.
        expect(Exit.isFailure(yield* Effect.exit(untilOpened(8)))).toBe(true)
      }))

    it.effect("is reported as changed if its rows are invalid because it was changed while it was read", () =>
      Effect.gen(function*() {
        const { opened, path, write } = yield* world({ path: "/in/stock.json" })
        yield* write(path, `[{"productId":"A","stock":1}]`, noon - 10_000)
        const { rows } = Option.getOrThrow(yield* opened)
        yield* advance("1 second")
        yield* write(path, `[{"productId":`)
        expect(yield* Effect.flip(all(rows))).toMatchObject({
          _tag: "SourceUnreachable",
          message: containing("was changed while it was read")
        })
      }))

    if (place.recognisesReplacements) {
      it.effect("is not read if it is replaced all the time and lacks a line end", () =>
        Effect.gen(function*() {
          const { path, reading, replace } = yield* world()
          yield* replace(path, half)
          const fiber = yield* reading
          for (let seconds = 0; seconds < 12; seconds++) {
            yield* replace(path, half)
            yield* advance("1 second")
          }
          expect(yield* poll(fiber)).toMatchObject(failure("its last line has no line end"))
        }))
    }

    it.effect("may be missing for a moment while another takes its place", () =>
      Effect.gen(function*() {
        const { opened, path, reading, remove, replace, write } = yield* world()
        yield* write(path, half, noon - 60_000)
        yield* Effect.result(opened)
        yield* remove(path)
        const fiber = yield* reading
        yield* advance("2 seconds")
        yield* replace(path, whole)
        yield* advance("7 seconds")
        expect(yield* poll(fiber)).toMatchObject(result(rows))
      }))
  })

  describe("a last line without its line end", () => {
    it.effect("is waited for, with a sentence that says for how long", () =>
      Effect.gen(function*() {
        const { path, reading, write } = yield* world()
        yield* write(path, half, noon - 10_000)
        const first = yield* reading
        yield* advance(place.look)
        expect(yield* poll(first)).toMatchObject(failure(`It is read as it is after ${place.lineUntil}`))
        yield* advance("55 seconds")
        const second = yield* reading
        yield* advance(place.look)
        expect(yield* poll(second)).toMatchObject(result([good(2, "SKU-1", 1)]))
      }))

    for (
      const [name, path, content] of [
        ["of NDJSON", "/in/stock.ndjson", `{"productId":"A","stock":1}`],
        ["of CSV in UTF-16 without end", "/in/stock.csv", Buffer.from("\uFEFFproductId,stock\nA,1", "utf16le")]
      ] as const
    ) {
      it.effect(`is waited for in ${name}`, () =>
        Effect.gen(function*() {
          const { reading, write } = yield* world({ path })
          yield* write(path, content, noon - 10_000)
          const fiber = yield* reading
          yield* advance(place.look)
          expect(yield* poll(fiber)).toMatchObject(failure("its last line has no line end"))
        }))
    }

    for (
      const [name, path, content] of [
        ["a JSON document", "/in/stock.json", `[{"productId":"A","stock":1}]`],
        ["a compressed file", "/in/stock.csv", gzipSync(whole)],
        ["a file that ends in CRLF", "/in/stock.csv", whole.replaceAll("\n", "\r\n")],
        ["a file in UTF-16", "/in/stock.csv", Buffer.from(`\uFEFF${whole}`, "utf16le")],
        ["a file of many lines", "/in/stock.csv", whole]
      ] as const
    ) {
      it.effect(`is not missing in ${name}`, () =>
        Effect.gen(function*() {
          const { opened, write } = yield* world({ path })
          yield* write(path, content, noon - 10_000)
          expect(yield* opened).toMatchObject({ _tag: "Some" })
        }))
    }
  })

  describe("a done marker", () => {
    const doneMarker = "/in/done"

    it.effect("has to be there, and not older than the source", () =>
      Effect.gen(function*() {
        const { path, reading, write } = yield* world({ doneMarker })
        yield* write(path, whole, noon - 60_000)
        const none = yield* reading
        yield* advance(place.look)
        expect(yield* poll(none)).toMatchObject(failure("in/done does not exist"))
        yield* write(doneMarker, "", noon - 61_000)
        const old = yield* reading
        yield* advance(place.look)
        expect(yield* poll(old)).toMatchObject(failure("in/done is older"))
        yield* write(doneMarker, "", noon - 60_000)
        const done = yield* reading
        yield* advance(place.look)
        expect(yield* poll(done)).toMatchObject(result(rows))
      }))

    it.effect("says that the last line is finished", () =>
      Effect.gen(function*() {
        const { path, reading, write } = yield* world({ doneMarker })
        yield* write(path, half, noon - 10_000)
        yield* write(doneMarker, "")
        const fiber = yield* reading
        yield* advance(place.look)
        expect(yield* poll(fiber)).toMatchObject(result([good(2, "SKU-1", 1)]))
      }))
  })
})

describe("a single reading", () => {
  const options = { ...columns, source: "/in/stock.csv", timeout: Duration.seconds(30) }
  const reading = (folder: ReturnType<typeof OneFolder.make>, more: Partial<Open.SourceOptions> = {}) =>
    Open.makeWaiting({ ...options, ...more }).pipe(
      Effect.flatMap(({ open }) => open(Option.none())),
      Effect.flatMap((snapshot) => all(Option.getOrThrow(snapshot).rows)),
      Effect.scoped,
      Effect.result,
      Effect.provide(folder.layer),
      Effect.forkChild
    )

  it.effect("waits for the rest of a last line, and accepts the line after the wait", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(noon)
      const folder = OneFolder.make()
      yield* folder.write("/in/stock.csv", half)
      const fiber = yield* reading(folder)
      yield* advance("59 seconds")
      expect(yield* poll(fiber)).toMatchObject(unread)
      yield* advance("1 second")
      expect(yield* poll(fiber)).toMatchObject(result([good(2, "SKU-1", 1)]))
    }))

  it.effect("goes on when the rest of a last line has come", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(noon)
      const folder = OneFolder.make()
      yield* folder.write("/in/stock.csv", half)
      const fiber = yield* reading(folder)
      yield* advance("30 seconds")
      yield* folder.write("/in/stock.csv", whole)
      yield* advance("4 seconds")
      expect(yield* poll(fiber)).toMatchObject(unread)
      yield* advance("2 seconds")
      expect(yield* poll(fiber)).toMatchObject(result(rows))
    }))

  it.effect("ends, also if a writer begins again and again", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(noon)
      const folder = OneFolder.make()
      yield* folder.write("/in/stock.csv", half)
      const fiber = yield* reading(folder)
      for (let written = 1; written < 6; written++) {
        yield* advance("12 seconds")
        yield* folder.write("/in/stock.csv", `${half}${written}`)
      }
      expect(yield* poll(fiber)).toMatchObject(unread)
      yield* advance("12 seconds")
      expect(yield* poll(fiber)).toMatchObject(failure("its last line has no line end"))
    }))

  it.effect("does not wait for a server beyond the attempts of a request", () =>
    Effect.gen(function*() {
      const { asked, origin } = yield* serving((_, response) => void response.writeHead(429, { "retry-after": "1" }).end())
      const reading = Effect.flatMap(Open.makeWaiting({ ...options, source: `${origin}/stock.csv` }), ({ open }) => open(Option.none()))
      expect(yield* hurried(Effect.flip(Effect.scoped(reading)))).toMatchObject({
        message: containing("it responded 429 with Retry-After")
      })
      expect(asked).toHaveLength(4)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("waits for a done marker, and fails without one", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(noon)
      const folder = OneFolder.make()
      yield* folder.write("/in/stock.csv", whole, noon - 60_000)
      const lucky = yield* reading(folder, { doneMarker: "/in/done" })
      yield* advance("30 seconds")
      yield* folder.write("/in/done", "")
      yield* advance("1 second")
      expect(yield* poll(lucky)).toMatchObject(result(rows))
      yield* folder.remove("/in/done")
      const unlucky = yield* reading(folder, { doneMarker: "/in/done" })
      yield* advance("62 seconds")
      expect(yield* poll(unlucky)).toMatchObject(failure("does not exist"))
    }))
})
