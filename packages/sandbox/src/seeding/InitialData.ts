/** The initial data of a sandbox: its seed and its fixtures. The database records both, and a reset restores them. */
import * as Effect from "effect/Effect"
import { SandboxError } from "../SandboxError.ts"
import { Db } from "../storage/Db.ts"
import { MetaRepo } from "../storage/MetaRepo.ts"
import { decodeJson, encodeJson, fieldPath, type Fixtures } from "./Fixtures.ts"
import * as SeedData from "./SeedData.ts"
import { makeInsertFixtures, type SeedingError } from "./SeedingOperations.ts"

/** The data that a sandbox starts with. */
export interface InitialData {
  readonly seed: number
  readonly fixtures?: Fixtures
}

const key = "fixtures"

/** Reads the initial data of a database; undefined if the database is new. */
export const stored = (meta: MetaRepo["Service"]): InitialData | undefined => {
  const seed = meta.find("seed")
  const fixtures = meta.find(key)
  return seed === undefined
    ? undefined
    : { seed: Number(seed), ...(fixtures === undefined ? {} : { fixtures: decodeJson(fixtures) }) }
}

/** Inserts the initial data into empty tables, and records it in the database. */
export const makeInsert = Effect.gen(function*() {
  const { transaction } = yield* Db
  const meta = yield* MetaRepo
  const insertSeedData = yield* SeedData.make
  const insertFixtures = yield* makeInsertFixtures
  return Effect.fnUntraced(function*({ fixtures, seed }: InitialData): Effect.fn.Return<void, SeedingError> {
    yield* insertSeedData(seed)
    if (fixtures !== undefined) {
      meta.set(key, encodeJson(fixtures))
      yield* insertFixtures(fixtures, seed)
    }
  }, transaction)
})

const invalidFixtures = ({ details, message }: SeedingError): SandboxError =>
  new SandboxError({
    message: `the fixtures can't be used: ${fieldPath(String(details["field"]).split("."))}: ${message}`
  })

/** Seeds a new database, or checks that the options match the data of an existing one. Returns the seed. */
export const prepare = Effect.fnUntraced(function*(
  file: string,
  { fixtures, seed }: { readonly seed: number | undefined; readonly fixtures: Fixtures | undefined }
) {
  const existing = stored(yield* MetaRepo)
  if (existing === undefined) {
    const insert = yield* makeInsert
    const initial = { seed: seed ?? 1, ...(fixtures === undefined ? {} : { fixtures }) }
    yield* Effect.mapError(insert(initial), invalidFixtures)
    return initial.seed
  }
  const refuse = (what: string) => new SandboxError({ message: `the data file ${file} was seeded with ${what}, or name another file` })
  if (seed !== undefined && seed !== existing.seed) {
    return yield* refuse(`seed ${existing.seed}, not ${seed}: leave the seed out`)
  }
  if (fixtures !== undefined && (existing.fixtures === undefined || encodeJson(fixtures) !== encodeJson(existing.fixtures))) {
    return yield* refuse("other fixtures: leave them out")
  }
  return existing.seed
})
