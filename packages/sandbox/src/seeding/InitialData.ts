/**
 * What a new sandbox begins with, and what a reset leads back to: the seed, and fixtures where there are any. A database
 * remembers both. Knows nothing of requests.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { Accounts } from "../access/Accounts.js"
import type { Assumed } from "../Assumptions.js"
import type { Fixtures } from "./Fixtures.js"
import * as FixtureValues from "./Fixtures.js"
import type { Refusal } from "./SeedFixtures.js"
import * as PlantFixtures from "./SeedFixtures.js"
import type { CurrentLatitude } from "../latitude/CurrentLatitude.js"
import { MediaFiles } from "../areas/media/MediaFiles.js"
import { SandboxError } from "../SandboxError.js"
import * as Seed from "./SeedData.js"
import { type Client, Sql } from "../storage/Sql.js"

/** @since 0.1.0 @category models */
export interface Beginning {
  readonly seed: number
  readonly fixtures?: Fixtures
}

const key = "fixtures"

/**
 * What a database was planted with; undefined when it is new.
 *
 * @since 0.1.0
 * @category planting
 */
export const recorded = (sql: Client): Effect.Effect<Beginning | undefined> =>
  Effect.gen(function*() {
    const seed = yield* Seed.recorded(sql)
    const [row] = yield* sql<{ readonly value: string }>`SELECT value FROM meta WHERE key = ${key}`
    return Number.isNaN(seed)
      ? undefined
      : { seed, ...(row === undefined ? {} : { fixtures: FixtureValues.restore(row.value) }) }
  })

/** @since 0.1.0 @category planting */
export const make: Effect.Effect<
  (beginning: Beginning) => Effect.Effect<void, Refusal>,
  never,
  Sql | MediaFiles | Accounts | Assumed | CurrentLatitude
> = Effect.gen(function*() {
  const sql = yield* Sql
  const files = yield* MediaFiles
  const plantFixtures = yield* PlantFixtures.make
  return ({ fixtures, seed }) =>
    Effect.gen(function*() {
      yield* Seed.plant(sql, files, seed)
      if (fixtures !== undefined) {
        yield* sql`INSERT INTO meta ${sql.insert({ key, value: FixtureValues.store(fixtures) })}`
        yield* plantFixtures(fixtures, seed)
      }
    }).pipe(sql.withTransaction)
})

/**
 * Plants a new database, or tells what an old one was planted with, which is all that it can begin with.
 *
 * @since 0.1.0
 * @category planting
 */
export const prepare = (
  file: string,
  wanted: { readonly seed: number | undefined; readonly fixtures: Fixtures | undefined }
): Effect.Effect<number, SandboxError, Sql | MediaFiles | Accounts | Assumed | CurrentLatitude> =>
  Effect.gen(function*() {
    const plant = yield* make
    const found = yield* recorded(yield* Sql)
    const { fixtures } = wanted
    if (found === undefined) {
      const seed = wanted.seed ?? 1
      yield* Effect.catchTags(plant({ seed, ...(fixtures === undefined ? {} : { fixtures }) }), {
        ValidationError: unplantable,
        NotFound: unplantable,
        Conflict: unplantable
      })
      return seed
    }
    const refuse = (what: string) =>
      new SandboxError({ message: `the data file ${file} was planted with ${what}, or name another file` })
    if (wanted.seed !== undefined && wanted.seed !== found.seed) {
      return yield* refuse(`seed ${found.seed}, not ${wanted.seed}: leave the seed out`)
    }
    if (fixtures !== undefined && (found.fixtures === undefined || FixtureValues.store(fixtures) !== FixtureValues.store(found.fixtures))) {
      return yield* refuse("other fixtures: leave them out")
    }
    return found.seed
  })

const unplantable = ({ details, message }: Refusal): Effect.Effect<never, SandboxError> =>
  new SandboxError({
    message: `the fixtures can't be used: ${FixtureValues.placeOf(String(details["field"]).split("."))}: ${message}`
  })
