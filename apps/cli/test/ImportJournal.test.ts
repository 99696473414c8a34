/**
 * What a journal remembers, whatever was cut off, and for how long it is kept.
 */
import { FileSystem } from "@effect/platform"
import { NodeFileSystem } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Journal from "../src/Import/Journal.js"
import * as Place from "../src/Import/Place.js"
import { home } from "./support/Importing.js"

const standings = (path: string, ...ids: ReadonlyArray<string>) => Effect.map(Journal.read(path), ({ of }) => ids.map(of))

/** Writes into a journal as one program does. */
const life = (path: string, ...words: ReadonlyArray<readonly [id: string, is: Journal.Word]>) =>
  Effect.scoped(Effect.flatMap(Journal.open(path), ({ note }) => Effect.forEach(words, ([id, is]) => note(id, is), { discard: true })))

describe("a journal", () => {
  it.scoped("remembers the last word on each row, and what may have happened", () =>
    Effect.gen(function*() {
      const path = `${yield* home}/journal`
      expect(yield* standings(path, "a")).toEqual(["open"])
      yield* life(path, ["a", "sending"], ["b", "sending"], ["c", "sending"], ["d", "sending"], ["e", "sending"])
      yield* life(path, ["a", "sending"], ["a", "failed"], ["b", "sending"], ["b", "sent"], ["c", "unknown"], ["f", "sending"], [
        "f",
        "failed"
      ], ["g", "already"])
      // A failure of the second time says nothing of the first.
      expect(yield* standings(path, "a", "b", "c", "d", "f", "g", "h")).toEqual([
        "doubtful",
        "sent",
        "doubtful",
        "doubtful",
        "open",
        "already",
        "open"
      ])
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.scoped("loses no word behind a line that was cut off, wherever it was", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = `${yield* home}/journal`
      yield* life(path, ["a", "sending"], ["a", "sent"], ["b", "sending"])
      const whole = yield* fs.readFileString(path)
      for (let length = 0; length < whole.length; length++) {
        yield* fs.writeFileString(path, whole.slice(0, length))
        yield* life(path, ["c", "sending"], ["c", "sent"])
        const [a, , c] = yield* standings(path, "a", "b", "c")
        expect(c).toBe("sent")
        expect(["open", "doubtful", "sent"]).toContain(a)
        expect(a === "sent").toBe(length >= whole.indexOf(`"sent"}`) + `"sent"}`.length)
      }
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.scoped("is removed when nobody has touched it for a month", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const all = yield* home
      const path = (name: string) => `${all}/one/${name}`
      yield* fs.makeDirectory(`${all}/one`)
      const names = ["old.ndjson", "old.failed.csv", "lock", "holder", "new.ndjson", "mine.ndjson"]
      yield* Effect.forEach(names, (name) => fs.writeFileString(path(name), ""))
      // The test's clock begins in 1970.
      const [month, day] = [new Date(-31 * 86_400_000), new Date(-86_400_000)]
      yield* Effect.forEach(names, (name) => fs.utimes(path(name), day, /^(old|lock|holder)/.test(name) ? month : day))
      const place = { folder: `${all}/one`, journal: path("mine.ndjson"), report: path("mine.failed.csv") }
      yield* Place.prune(place)
      expect(new Set(yield* fs.readDirectory(`${all}/one`))).toEqual(new Set(["lock", "holder", "new.ndjson", "mine.ndjson"]))
      expect(yield* Place.others(place)).toEqual([path("new.ndjson")])
    }).pipe(Effect.provide(NodeFileSystem.layer)))
})
