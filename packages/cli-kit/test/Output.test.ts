/**
 * Results go to standard output, everything else to standard error, and a program ends with the status of its failure.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Errors from "@plaza/domain/Errors"
import { Deferred, Effect, Fiber, Ref, Stream } from "effect"
import * as Output from "../src/Output.ts"
import * as Program from "../src/Program.ts"
import * as Streams from "../src/Streams.ts"

const run = <A, E>(
  use: (output: Output.Output["Service"]) => Effect.Effect<A, E>,
  options: Partial<Output.Settings> & { readonly columns?: number } = {}
) => {
  const stdout: Array<string> = []
  const stderr: Array<string> = []
  const streams = Streams.layerTest({ stdout, stderr, ...(options.columns === undefined ? {} : { columns: options.columns }) })
  const json = options.json ?? false
  const settings = { json, quiet: options.quiet ?? false, fields: options.fields }
  return Effect.flatMap(Output.Output, use).pipe(
    Effect.provide(Output.layer(settings)),
    (effect) => Program.exitCodeOf(effect, { name: "plaza", json, signal: () => "SIGINT" }),
    Effect.provide(streams),
    Effect.map((code) => ({ code, stdout: stdout.join(""), stderr: stderr.join(""), writes: stdout.length }))
  )
}

const columns = [{ head: "id" }, { head: "text" }]
const items = Stream.fromArrays(...["1", "2", "3"].map((text) => [{ id: "a", text }]))

describe("output", () => {
  it.effect("of one thing is a line for each name, or one JSON value on one line", () =>
    Effect.gen(function*() {
      const write = (output: Output.Output["Service"]) => output.one({ id: "1", name: null }, [["id", "1"], ["name", null]])
      expect(yield* run(write)).toMatchObject({ code: 0, stdout: "id\t1\n", stderr: "" })
      expect(yield* run(write, { json: true, columns: 60 })).toMatchObject({ stdout: `{"id":"1","name":null}\n`, stderr: "" })
      expect((yield* run((output) => output.value({ id: "1" }), { columns: 60 })).stdout).toBe(`{\n  "id": "1"\n}\n`)
    }))

  it.effect("of a list is written as its items come, with one head", () =>
    Effect.gen(function*() {
      const write = (output: Output.Output["Service"]) =>
        output.list(items, columns, ({ id, text }) => [id, text], { empty: "There are no things." })
      expect(yield* run(write, { columns: 40 })).toMatchObject({ stdout: "id  text\na   1\na   2\na   3\n", writes: 3 })
      expect(yield* run(write)).toMatchObject({ stdout: "a\t1\na\t2\na\t3\n", writes: 3 })
      expect(yield* run(write, { json: true })).toMatchObject({
        stdout: `{"id":"a","text":"1"}\n{"id":"a","text":"2"}\n{"id":"a","text":"3"}\n`,
        writes: 3
      })
    }))

  it.effect("of an empty list is a note for people only", () =>
    Effect.gen(function*() {
      const write = (empty: string | undefined) => (output: Output.Output["Service"]) =>
        output.list(Stream.empty, columns, () => [], { empty })
      const nothing = { code: 0, stdout: "", stderr: "", writes: 0 }
      expect(yield* run(write("There are no things."))).toEqual({ ...nothing, stderr: "There are no things.\n" })
      expect(yield* run(write("There are no things."), { quiet: true })).toEqual(nothing)
      expect(yield* run(write("There are no things."), { json: true })).toEqual(nothing)
      expect(yield* run(write(undefined))).toEqual(nothing)
    }))

  it.effect("of a list that fails before its first item has no such note", () =>
    Effect.gen(function*() {
      const failure = Stream.fail(Errors.fromCode("NOT_FOUND", { message: "gone" }))
      const { code, stderr } = yield* run((output) => output.list(failure, columns, () => [], { empty: "There are no things." }))
      expect(code).toBe(3)
      expect(stderr).not.toContain("There are no things.")
    }))

  it.effect("of a list can hide something else while it writes", () =>
    Effect.gen(function*() {
      const hidden = yield* Ref.make(0)
      const around = (write: Effect.Effect<void, Streams.OutputError>) => Effect.andThen(Ref.update(hidden, (times) => times + 1), write)
      const { stdout } = yield* run((output) => output.list(items, columns, ({ text }) => [text], { empty: undefined, around }))
      expect([stdout, yield* Ref.get(hidden)]).toEqual(["1\t\n2\t\n3\t\n", 3])
    }))

  it.effect("of JSON has the fields that were asked for, in their order", () =>
    Effect.gen(function*() {
      const options = { json: true, fields: ["text", "unknown", "id"] }
      const one = (output: Output.Output["Service"]) => output.one({ id: "1", text: "a", more: true }, [])
      expect((yield* run(one, options)).stdout).toBe(`{"text":"a","id":"1"}\n`)
      expect((yield* run(one, { json: true, fields: ["unknown"] })).stdout).toBe("{}\n")
      expect((yield* run((output) => output.ndjson(items), options)).stdout).toBe(
        `{"text":"1","id":"a"}\n{"text":"2","id":"a"}\n{"text":"3","id":"a"}\n`
      )
      // A field of an object only: a text has no fields of its own.
      expect((yield* run((output) => output.value("text"), options)).stdout).toBe(`"text"\n`)
      expect((yield* run((output) => output.value({ toString: 1 }), { json: true, fields: ["toString", "valueOf", "__proto__"] })).stdout)
        .toBe(`{"toString":1}\n`)
    }))

  it.effect("of a list that fails in the middle keeps what came, and fails", () =>
    Effect.gen(function*() {
      const broken = Stream.concat(items, Stream.fail(Errors.fromCode("NOT_FOUND", { message: "gone" })))
      expect(yield* run((output) => output.ndjson(broken), { json: true })).toMatchObject({
        code: 3,
        writes: 3,
        stderr: `{"error":{"tag":"NotFound","code":"NOT_FOUND","status":404,"message":"gone","details":{}}}\n`
      })
    }))

  it.effect("of a note goes to standard error, and nowhere with --quiet", () =>
    Effect.gen(function*() {
      const write = (output: Output.Output["Service"]) => output.note("so it is\u001b[2J")
      expect(yield* run(write)).toMatchObject({ stdout: "", stderr: "so it is␛[2J\n" })
      expect(yield* run(write, { quiet: true })).toMatchObject({ stdout: "", stderr: "" })
    }))
})

describe("a program", () => {
  it.effect("whose reader went away ends silently and well", () =>
    Effect.gen(function*() {
      expect(yield* run(() => Effect.fail(new Streams.OutputClosed()))).toEqual({ code: 0, stdout: "", stderr: "", writes: 0 })
    }))

  it.effect("that with a defect prints one sentence without a stack", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* run(() => Effect.die(new Error("boom")))
      expect(code).toBe(1)
      expect(stderr).toBe(
        "plaza: internal error: boom\n  Run the command again with PLAZA_DEBUG=1 for a stack trace, and report it as a bug.\n"
      )
    }))

  const interrupted = (prepare: Effect.Effect<void>) =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const stderr: Array<string> = []
      const work = Effect.andThen(prepare, Effect.andThen(Deferred.succeed(started, undefined), Effect.never))
      const result = yield* Deferred.make<number>()
      const fiber = yield* Program.exitCodeOf(work, { name: "plaza", json: false, signal: () => "SIGTERM" }).pipe(
        Effect.tap((code) => Deferred.succeed(result, code)),
        Effect.uninterruptible,
        Effect.provide(Streams.layerTest({ stdout: [], stderr })),
        Effect.forkChild
      )
      yield* Deferred.await(started)
      yield* Fiber.interrupt(fiber)
      return { code: yield* Deferred.await(result), stderr }
    })

  it.effect("that is interrupted ends with the signal's status, in silence", () =>
    Effect.gen(function*() {
      expect(yield* interrupted(Effect.void)).toEqual({ code: 143, stderr: [""] })
    }))

  it.effect("that runs until it is stopped ends well when it is", () =>
    Effect.gen(function*() {
      expect(yield* interrupted(Program.untilStopped)).toEqual({ code: 0, stderr: [] })
    }))
})
