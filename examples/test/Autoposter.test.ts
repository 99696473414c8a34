/** The autoposter against the sandbox. */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { TestTime } from "@plaza/client"
import { Sandbox } from "@plaza/sandbox"
import { Clock, Effect, FileSystem, Layer, Option, Predicate, Schedule, Stream } from "effect"
import { ChildProcess } from "effect/process"
import { TestClock } from "effect/testing"
import { fileURLToPath } from "node:url"
import { attention, Journal, pass } from "../src/autoposter/Autoposter.ts"
import { commitsOf, journal, world } from "./support/World.ts"

/** A folder with files that did not change for an hour. */
const folderWith = (...names: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const now = yield* Clock.currentTimeMillis
    const add = (name: string, changed = -3_600_000) =>
      Effect.gen(function*() {
        yield* fs.writeFileString(`${folder}/${name}`, name)
        yield* fs.utimes(`${folder}/${name}`, new Date(now + changed), new Date(now + changed))
      })
    yield* Effect.forEach(names, (name) => add(name))
    return { folder, add, run: Effect.provide(pass(folder), restarted(`${folder}/journal.sqlite`)) }
  })

/** A journal as a new process opens it. */
const restarted = (file: string) => Layer.fresh(Layer.provide(Journal.layer, journal(file)))

const textsSent = Effect.map(commitsOf("createPost"),
  (commits) => commits.map(({ payload }) => Predicate.hasProperty(payload, "text") ? payload.text : undefined))

const statesOf = (entries: Effect.Success<Effect.Success<ReturnType<typeof folderWith>>["run"]>) =>
  entries.map(({ file, state }) => [file, state])

/** Files have times of today, so the virtual time begins there. */
const startingToday = <A, E, R>(test: Effect.Effect<A, E, R>) => Effect.andThen(TestClock.setTime(Date.now()), test)

const inProcess = Layer.merge(world(), NodeServices.layer)

describe("the autoposter", () => {
  it.effect("posts each new media file once, across restarts, in the order of the names", () =>
    Effect.gen(function*() {
      const { add, run } = yield* folderWith("tea-mint.jpg", "mug.png", ".hidden.jpg", "notes.txt")
      yield* run
      yield* add("new_cap.jpg")
      yield* add("unfinished.jpg", 3_600_000)
      yield* run
      expect(statesOf(yield* run)).toEqual([["mug.png", "posted"], ["new_cap.jpg", "posted"], ["tea-mint.jpg", "posted"]])
      expect(yield* textsSent).toEqual(["mug", "tea mint", "new cap"])
    }).pipe(startingToday, TestTime.advancing, Effect.provide(inProcess)))

  it.effect("reports a post that may exist, and does not repeat it", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { run } = yield* folderWith("a.jpg", "b.jpg")
      // The post exists, but the list doesn't show it yet.
      yield* sandbox.setLatitude({ listLagMillis: 60_000 })
      yield* sandbox.addFault({ kind: "status", when: "after", status: 504, path: "/posts" })
      expect(statesOf(yield* run)).toEqual([["a.jpg", "unknown"], ["b.jpg", "posted"]])
      expect(statesOf(attention(yield* run))).toEqual([["a.jpg", "unknown"]])
      expect(yield* textsSent).toEqual(["a", "b"])
    }).pipe(startingToday, TestTime.advancing, Effect.provide(inProcess)))

  for (const [status, code] of [[400, "VALIDATION_ERROR"], [413, "PAYLOAD_TOO_LARGE"], [415, "NEW_CODE"], [422, "NEW_CODE"]] as const) {
    it.effect(`reports a file that the service refuses, and posts the others: ${status}`, () =>
      Effect.gen(function*() {
        const { addFault, countRequests } = yield* Sandbox.Sandbox
        const { run } = yield* folderWith("a.jpg", "b.jpg")
        yield* addFault({ kind: "status", when: "before", status, code, path: "/media" })
        expect(statesOf(yield* run)).toEqual([["a.jpg", "refused"], ["b.jpg", "posted"]])
        yield* run
        expect(yield* countRequests({ path: "/media" })).toBe(2)
      }).pipe(startingToday, TestTime.advancing, Effect.provide(inProcess)))
  }

  it.effect("leaves out what is not a readable file, and posts the others", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { folder, run } = yield* folderWith("c.jpg")
      yield* fs.symlink(`${folder}/missing`, `${folder}/a.jpg`)
      yield* fs.makeDirectory(`${folder}/b.jpg`)
      yield* TestClock.adjust("1 minute")
      expect(statesOf(yield* run)).toEqual([["c.jpg", "posted"]])
    }).pipe(startingToday, TestTime.advancing, Effect.provide(inProcess)))

  it.effect("ends the pass at a redirect, because the base URL is wrong", () =>
    Effect.gen(function*() {
      const { addFault, clearFaults } = yield* Sandbox.Sandbox
      const { run } = yield* folderWith("a.jpg", "b.jpg")
      yield* addFault({ kind: "status", when: "before", status: 308, path: "/media", times: 50 })
      expect(yield* Effect.flip(run)).toMatchObject({ status: 308 })
      yield* clearFaults
      expect(statesOf(yield* run)).toEqual([["a.jpg", "posted"], ["b.jpg", "posted"]])
    }).pipe(startingToday, TestTime.advancing, Effect.provide(inProcess)))

  it.effect("ends a pass that the account can't do, and continues with the next one", () =>
    Effect.gen(function*() {
      const { addFault } = yield* Sandbox.Sandbox
      const { run } = yield* folderWith("a.jpg", "b.jpg")
      yield* addFault({ kind: "status", when: "before", status: 403, code: "PROFILE_INCOMPLETE", path: "/posts" })
      expect(yield* Effect.flip(run)).toMatchObject({ _tag: "ProfileIncomplete" })
      expect(statesOf(yield* run)).toEqual([["a.jpg", "posted"], ["b.jpg", "posted"]])
    }).pipe(startingToday, TestTime.advancing, Effect.provide(inProcess)))

  for (const latitude of [1, 2, 3, 4]) {
    it.effect(`posts no file twice while the service fails: latitude ${latitude}`, () =>
      Effect.gen(function*() {
        const { addFault } = yield* Sandbox.Sandbox
        const names = Array.from({ length: 12 }, (_, number) => `file-${number}.jpg`)
        const { run } = yield* folderWith(...names)
        yield* addFault({ kind: "drop", when: "after", path: "/posts", rate: 0.3 })
        yield* addFault({ kind: "status", when: "after", status: 503, path: "/posts", rate: 0.3 })
        yield* addFault({ kind: "status", when: "before", status: 500, rate: 0.1 })
        const entries = yield* Effect.retry(run, Schedule.spaced("1 hour").pipe(Schedule.upTo({ times: 20 })))
        const sent = yield* textsSent
        expect(entries).toHaveLength(names.length)
        expect(new Set(sent).size).toBe(sent.length)
        // A file in `unknown` may have a post or none.
        for (const { file, state } of entries) {
          if (state === "posted") expect(sent).toContain(file.replace(".jpg", "").replace("-", " "))
        }
      }).pipe(startingToday, TestTime.advancing, Effect.provide(Layer.merge(world({}, { latitude }), NodeServices.layer))))
  }

  it.live("does not repeat a post that was being sent when the program was killed", () =>
    Effect.gen(function*() {
      const { addFault, apiKey, baseUrl } = yield* Sandbox.Sandbox
      const { folder } = yield* folderWith("a.jpg", "b.jpg")
      const start = ChildProcess.make(
        process.execPath,
        ["--conditions=@plaza/source", fileURLToPath(new URL("../src/autoposter/main.ts", import.meta.url))],
        {
          env: { PLAZA_BASE_URL: baseUrl, PLAZA_API_KEY: apiKey, MEDIA_FOLDER: folder, JOURNAL: `${folder}/journal.sqlite` },
          extendEnv: true
        }
      )
      yield* addFault({ kind: "delay", when: "after", millis: 60_000, path: "/posts" })
      const first = yield* start
      // The post is stored, and its response is on the way.
      yield* textsSent.pipe(Effect.repeat({ schedule: Schedule.spaced("20 millis"), until: (sent) => sent.length > 0 }))
      yield* first.kill({ killSignal: "SIGKILL" })
      const second = yield* start
      const log = yield* second.stdout.pipe(
        Stream.decodeText(),
        Stream.scan(() => "", (all, text) => all + text),
        Stream.takeUntil((all) => all.includes("autoposter.pass") && all.includes("}")),
        Stream.runLast
      )
      expect(Option.getOrThrow(log)).toContain("the program ended during the post")
      expect(yield* textsSent).toEqual(["a", "b"])
    }).pipe(Effect.provide(Layer.merge(Sandbox.layerServer(), NodeServices.layer))))
})
