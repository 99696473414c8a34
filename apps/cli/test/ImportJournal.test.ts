/**
 * The history of a journal, also after a truncated line, and its removal.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import * as ImportFolder from "../src/import/ImportFolder.ts"
import * as Journal from "../src/import/Journal.ts"
import { home } from "./support/Importing.ts"

const statesOf = (path: string, ...ids: ReadonlyArray<string>) => Effect.map(Journal.read(path), ({ stateOf }) => ids.map(stateOf))

/** Appends lines in a new process. */
const append = (path: string, ...events: ReadonlyArray<readonly [id: string, is: Journal.RowEvent]>) =>
  Effect.scoped(
    Effect.flatMap(Journal.open(path), (journal) => Effect.forEach(events, ([id, is]) => journal.append(id, is), { discard: true }))
  )

describe("a journal", () => {
  it.effect("has the last state of each row, and rows with an unknown outcome", () =>
    Effect.gen(function*() {
      const path = `${yield* home}/journal`
      expect(yield* statesOf(path, "a")).toEqual(["open"])
      yield* append(path, ["a", "sending"], ["b", "sending"], ["c", "sending"], ["d", "sending"], ["e", "sending"])
      yield* append(path, ["a", "sending"], ["a", "failed"], ["b", "sending"], ["b", "sent"], ["c", "unknown"], ["f", "sending"], [
        "f",
        "failed"
      ], ["g", "already"])
      // A later failure says nothing about the earlier attempt.
      expect(yield* statesOf(path, "a", "b", "c", "d", "f", "g", "h")).toEqual([
        "doubtful",
        "inPlace",
        "doubtful",
        "doubtful",
        "open",
        "inPlace",
        "open"
      ])
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.effect("reads every line after a truncated one", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = `${yield* home}/journal`
      yield* append(path, ["a", "sending"], ["a", "sent"], ["b", "sending"])
      const whole = yield* fs.readFileString(path)
      for (let length = 0; length < whole.length; length++) {
        yield* fs.writeFileString(path, whole.slice(0, length))
        yield* append(path, ["c", "sending"], ["c", "sent"])
        const [a, , c] = yield* statesOf(path, "a", "b", "c")
        expect(c).toBe("inPlace")
        expect(["open", "doubtful", "inPlace"]).toContain(a)
        expect(a === "inPlace").toBe(length >= whole.indexOf(`"sent"}`) + `"sent"}`.length)
      }
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.effect("is removed when it is 30 days old", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const all = yield* home
      const path = (name: string) => `${all}/one/${name}`
      yield* fs.makeDirectory(`${all}/one`)
      const names = ["old.ndjson", "old.failed.csv", "lock", "owner", "new.ndjson", "mine.ndjson"]
      yield* Effect.forEach(names, (name) => fs.writeFileString(path(name), ""))
      // The test clock starts in 1970.
      const [month, day] = [new Date(-31 * 86_400_000), new Date(-86_400_000)]
      yield* Effect.forEach(names, (name) => fs.utimes(path(name), day, /^(old|lock|owner)/.test(name) ? month : day))
      const paths = { folder: `${all}/one`, journal: path("mine.ndjson"), report: path("mine.failed.csv") }
      yield* ImportFolder.prune(paths)
      expect(new Set(yield* fs.readDirectory(`${all}/one`))).toEqual(new Set(["lock", "owner", "new.ndjson", "mine.ndjson"]))
      expect(yield* ImportFolder.otherJournals(paths)).toEqual([path("new.ndjson")])
    }).pipe(Effect.provide(NodeFileSystem.layer)))
})
