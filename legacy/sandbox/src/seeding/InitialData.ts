/**
 * The initial data of a sandbox: its seed and its fixtures. The database records both, and a reset restores them.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { PostsPolicy } from "../areas/posts/PostsPolicy.ts"
import type { CurrentAssumptions } from "../Assumptions.ts"
import type { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import type { Repos } from "../Repos.ts"
import { SandboxError } from "../SandboxError.ts"
import { MetaRepo } from "../storage/MetaRepo.ts"
import { Sql } from "../storage/Sql.ts"
import { decodeJson, encodeJson, fieldPath, type Fixtures } from "./Fixtures.ts"
import * as SeedData from "./SeedData.ts"
import type { SeedingError } from "./SeedFixtures.ts"
import * as SeedFixtures from "./SeedFixtures.ts"

/**
 * The data that a sandbox starts with.
 *
 * @since 0.1.0
 * @category models
 */
export interface InitialData {
  readonly seed: number
  readonly fixtures?: Fixtures
}

const key = "fixtures"

/**
 * Reads the initial data of a database; undefined if the database is new.
 *
 * @since 0.1.0
 * @category seeding
 */
export const stored = (meta: MetaRepo["Type"]): Effect.Effect<InitialData | undefined> =>
  Effect.gen(function*() {
    const seed = yield* SeedData.storedSeed(meta)
    const fixtures = yield* meta.find(key)
    return Option.isNone(seed)
      ? undefined
      : { seed: seed.value, ...(Option.isNone(fixtures) ? {} : { fixtures: decodeJson(fixtures.value) }) }
  })

/**
 * Inserts the initial data into empty tables, and records it in the database.
 *
 * @since 0.1.0
 * @category seeding
 */
export const make: Effect.Effect<
  (initial: InitialData) => Effect.Effect<void, SeedingError>,
  never,
  Sql | Repos | PostsPolicy | CurrentAssumptions | CurrentLatitude
> = Effect.gen(function*() {
  const { withTransaction } = yield* Sql
  const meta = yield* MetaRepo
  const insertSeedData = yield* SeedData.make
  const seedFixtures = yield* SeedFixtures.make
  return ({ fixtures, seed }) =>
    Effect.gen(function*() {
      yield* insertSeedData(seed)
      if (fixtures !== undefined) {
        yield* meta.set(key, encodeJson(fixtures))
        yield* seedFixtures(fixtures, seed)
      }
    }).pipe(withTransaction)
})

/**
 * Seeds a new database, or checks that the options match the data of an existing one. Returns the seed.
 *
 * @since 0.1.0
 * @category seeding
 */
export const prepare = (
  file: string,
  options: { readonly seed: number | undefined; readonly fixtures: Fixtures | undefined }
): Effect.Effect<number, SandboxError, Sql | Repos | PostsPolicy | CurrentAssumptions | CurrentLatitude> =>
  Effect.gen(function*() {
    const insert = yield* make
    const existing = file === ":memory:" ? undefined : yield* stored(yield* MetaRepo)
    const { fixtures } = options
    if (existing === undefined) {
      const seed = options.seed ?? 1
      yield* Effect.catchTags(insert({ seed, ...(fixtures === undefined ? {} : { fixtures }) }), {
        ValidationError: invalidFixtures,
        NotFound: invalidFixtures,
        Conflict: invalidFixtures
      })
      return seed
    }
    const refuse = (what: string) => new SandboxError({ message: `the data file ${file} was seeded with ${what}, or name another file` })
    if (options.seed !== undefined && options.seed !== existing.seed) {
      return yield* refuse(`seed ${existing.seed}, not ${options.seed}: leave the seed out`)
    }
    if (fixtures !== undefined && (existing.fixtures === undefined || encodeJson(fixtures) !== encodeJson(existing.fixtures))) {
      return yield* refuse("other fixtures: leave them out")
    }
    return existing.seed
  })

const invalidFixtures = ({ details, message }: SeedingError): Effect.Effect<never, SandboxError> =>
  new SandboxError({
    message: `the fixtures can't be used: ${fieldPath(String(details["field"]).split("."))}: ${message}`
  })
