/** Seeding of a running sandbox, the state snapshot and the reset. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { RateWindow } from "../access/RateWindow.ts"
import { MediaFiles } from "../areas/media/MediaFiles.ts"
import { MediaRepo } from "../areas/media/MediaRepo.ts"
import { Commits } from "../http/Commits.ts"
import { Faults } from "../http/Faults.ts"
import { RequestLog } from "../http/RequestLog.ts"
import { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import { LateCommits } from "../latitude/LateCommits.ts"
import { tableNames } from "../storage/Database.ts"
import { Db, literal } from "../storage/Db.ts"
import { MetaRepo } from "../storage/MetaRepo.ts"
import { VirtualClock } from "../VirtualClock.ts"
import * as InitialData from "./InitialData.ts"
import * as SeedingOperations from "./SeedingOperations.ts"
import * as StateSnapshot from "./StateSnapshot.ts"

const make = (seed: number) =>
  Effect.gen(function*() {
    const db = yield* Db
    const meta = yield* MetaRepo
    const media = yield* MediaRepo
    const files = yield* MediaFiles
    const clock = yield* VirtualClock
    const late = yield* LateCommits
    const latitude = yield* CurrentLatitude
    const commits = yield* Commits
    const faults = yield* Faults
    const window = yield* RateWindow
    const log = yield* RequestLog
    const insertInitialData = yield* InitialData.makeInsert
    const readState = yield* StateSnapshot.makeReader

    /** Replaces all data by the initial data. Returns the uploads that are no longer referenced. */
    const restore = db.transaction(Effect.gen(function*() {
      const initial = InitialData.stored(meta)
      const names = media.files()
      for (const table of tableNames) {
        db.run`DELETE FROM ${literal(table)}`
      }
      // The same data was inserted before, so it is valid.
      yield* Effect.orDie(insertInitialData(initial ?? { seed }))
      const kept = new Set(media.snapshotFiles())
      return names.filter((name) => !kept.has(name))
    }))

    return {
      operations: yield* SeedingOperations.make(seed),
      state: () => readState(seed),
      seed,
      /** Restores the initial data and the time of the outer Clock, and clears faults, rate counters and the logs. */
      reset: Effect.gen(function*() {
        clock.reset()
        yield* files.remove(yield* restore)
        yield* late.clear
        latitude.reset()
        commits.clear()
        faults.reset()
        window.reset()
        log.clear()
      })
    }
  })

export class Seeding extends Context.Service<Seeding, Effect.Success<ReturnType<typeof make>>>()("@plaza/sandbox/Seeding") {
  static readonly layer = (seed: number) => Layer.effect(Seeding, make(seed))
}
