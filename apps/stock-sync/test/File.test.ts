/**
 * Real files as a source: their versions, what is found wrong with them, and word of their changes from the system.
 */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, FileSystem, Option, Stream } from "effect"
import * as File from "../src/source/File.ts"
import * as NamedPipe from "./support/namedPipe.ts"
import { all, containing, good } from "./support/reading.ts"

const columns = {
  idColumn: "productId",
  stockColumn: "stock",
  poll: Duration.minutes(10),
  settle: Duration.zero,
  unfinishedWait: Duration.zero
}
const text = (stock: number) => `productId,stock\nA,${stock}\n`
const write = (path: string, content: string) => Effect.flatMap(FileSystem.FileSystem, (files) => files.writeFileString(path, content))

const inFolder = <A, E, R>(test: (path: string) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped()), (folder) => test(`${folder}/stock.csv`))
    .pipe(
      Effect.scoped,
      Effect.provide(NodeServices.layer)
    )
const opened = (path: string, taken: Option.Option<string> = Option.none()) =>
  Effect.flatMap(File.make({ ...columns, path }), (source) => source.open(taken))
const snapshotOf = (path: string) => Effect.map(opened(path), Option.getOrThrow)

describe("a file", () => {
  it.live("is there in full, and once it is taken only when it has changed", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        yield* write(path, text(1))
        const first = yield* snapshotOf(path)
        expect(yield* all(first.rows)).toEqual([good(2, "A", 1)])
        expect(yield* opened(path, first.version)).toEqual(Option.none())
        yield* write(path, text(10))
        expect(yield* opened(path, first.version)).toMatchObject({ _tag: "Some" })
      })
    ))

  it.live("is another one when it was replaced by one of the same size and time", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        const moment = new Date(1_700_000_000_000)
        yield* write(path, text(1))
        yield* files.utimes(path, moment, moment)
        const { version } = yield* snapshotOf(path)
        yield* write(`${path}.new`, text(2))
        yield* files.utimes(`${path}.new`, moment, moment)
        yield* files.rename(`${path}.new`, path)
        expect(yield* opened(path, version)).toMatchObject({ _tag: "Some" })
      })
    ))

  for (
    const [ending, content] of [["json", `[{"productId":"A","stock":1}]`], ["NDJSON", `{"productId":"A","stock":1}`], [
      "jsonl",
      `{"productId":"A","stock":1}`
    ]] as const
  ) {
    it.live(`is read as its ending says, .${ending}`, () =>
      inFolder((path) =>
        Effect.gen(function*() {
          yield* write(`${path}.${ending}`, content)
          expect(yield* all((yield* snapshotOf(`${path}.${ending}`)).rows)).toEqual([good(1, "A", 1)])
        })
      ))
  }

  it.live("is refused whole when it changes while it is read", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        yield* write(path, `productId,stock\n${Array.from({ length: 50_000 }, (_, index) => `P${index},1\n`).join("")}`)
        const { rows } = yield* snapshotOf(path)
        const begun = yield* Deferred.make<void>()
        const goOn = yield* Deferred.make<void>()
        const reading = yield* Effect.forkChild(
          Effect.flip(Stream.runForEachArray(rows, () => Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(goOn))))
        )
        yield* Deferred.await(begun)
        yield* write(path, text(1))
        yield* Deferred.succeed(goOn, undefined)
        expect(yield* Fiber.join(reading)).toMatchObject({ message: containing("no row of it was used") })
      })
    ))

  it.live("that isn't there, or is a folder or a named pipe, is refused with what to do", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        expect(yield* Effect.flip(opened(path))).toMatchObject({ _tag: "SourceError", message: containing("there is no such file") })
        const folder = path.replace("/stock.csv", "")
        expect(yield* Effect.flip(opened(folder))).toMatchObject({ _tag: "SourceError", message: containing("it is a folder, not a file") })
        expect(yield* Effect.flip(opened(`${folder}/${"long".repeat(100)}`))).toMatchObject({
          message: containing("it can't be read (ENAMETOOLONG: ")
        })
        const pipe = yield* NamedPipe.make(`${folder}/pipe`)
        expect(yield* Effect.flip(opened(pipe))).toMatchObject({
          _tag: "SourceError",
          message: containing("it is a named pipe or a device")
        })
      })
    ))
})

describe("word of a change", () => {
  /** Does something to the file, and waits for the word of it. */
  const comesAfter = (path: string, change: Effect.Effect<unknown, unknown, FileSystem.FileSystem>) =>
    Effect.gen(function*() {
      const source = yield* File.make({ ...columns, path })
      const word = yield* Effect.forkChild(Stream.runHead(source.changes))
      // The watcher starts asynchronously, so the change is repeated until it is reported.
      yield* Effect.raceFirst(Fiber.join(word), Effect.forever(Effect.andThen(change, Effect.sleep("3 seconds"))))
    })
  let stock = 0

  it.live("comes when it is written in place", () =>
    inFolder((path) => Effect.andThen(write(path, text(1)), comesAfter(path, Effect.suspend(() => write(path, text(10 ** ++stock)))))))

  it.live("comes when another is put in its place, as editors do", () =>
    inFolder((path) =>
      Effect.andThen(
        write(path, text(1)),
        comesAfter(path,
          Effect.flatMap(FileSystem.FileSystem,
            (files) => Effect.andThen(write(`${path}~`, text(10 ** ++stock)), files.rename(`${path}~`, path))))
      )
    ))

  it.live("comes when it appears", () => inFolder((path) => comesAfter(path, Effect.suspend(() => write(path, text(10 ** ++stock))))))
})
