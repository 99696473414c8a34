/**
 * The data files of worlds, in a folder beside the data file of the main sandbox: of each world a file with its options and a data file, to
 * which a folder of uploads may belong. Without a data file nothing is stored.
 */
import { Timestamp } from "@plaza/domain/Resources"
import * as Arr from "effect/Array"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Order from "effect/Order"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Fs from "node:fs"
import { join } from "node:path"
import { SandboxError } from "../SandboxError.ts"
import { inMemory } from "../storage/Database.ts"
import { NewWorld, WorldId } from "./WorldModels.ts"

const StoredWorld = Schema.Struct({ createdAt: Timestamp, options: NewWorld })
type StoredWorld = typeof StoredWorld.Type

export interface WorldFiles {
  /** The data file of a world. */
  readonly dataOf: (id: string) => string
  /** The stored worlds of this data file, oldest first. */
  readonly read: Effect.Effect<ReadonlyArray<StoredWorld & { readonly id: string }>, SandboxError>
  /** Records a world, before its data file is created. */
  readonly save: (id: string, world: StoredWorld) => Effect.Effect<void, SandboxError>
  readonly remove: (id: string) => Effect.Effect<void, SandboxError>
}

const Stored = Schema.fromJsonString(StoredWorld)
const decode = Schema.decodeUnknownResult(Stored, { onExcessProperty: "error" })
const encode = Schema.encodeSync(Stored)
const isId = Schema.is(WorldId)

const nothing: WorldFiles = {
  dataOf: () => inMemory,
  read: Effect.succeed([]),
  save: () => Effect.void,
  remove: () => Effect.void
}

const beside = (data: string): WorldFiles => {
  const folder = `${data}-worlds`
  const optionsOf = (id: string) => join(folder, `${id}.json`)
  const dataOf = (id: string) => join(folder, `${id}.db`)
  const attempt = <A>(
    use: () => A,
    message = `the folder ${folder} for worlds can't be used: check its permissions or name another data file`
  ) => Effect.try({ try: use, catch: (cause) => new SandboxError({ message, cause }) })
  const readOne = (id: string) =>
    Effect.flatMap(attempt(() => Fs.readFileSync(optionsOf(id), "utf8")), (text) =>
      Result.match(decode(text), {
        onFailure: () =>
          Effect.fail(
            new SandboxError({ message: `${optionsOf(id)} does not describe a world: remove the file, or name another data file` })
          ),
        onSuccess: (world) => Effect.succeed({ ...world, id })
      }))
  return {
    dataOf,
    read: Effect.flatMap(
      attempt(() => Fs.existsSync(folder) ? Fs.readdirSync(folder) : []),
      (names) =>
        Effect.forEach(names.flatMap((name) => name.endsWith(".json") && isId(name.slice(0, -5)) ? [name.slice(0, -5)] : []), readOne)
    ).pipe(Effect.map(Arr.sort(Order.mapInput(DateTime.Order, ({ createdAt }: StoredWorld) => createdAt)))),
    save: (id, world) =>
      attempt(() => {
        if (!Fs.existsSync(folder)) Fs.mkdirSync(folder, { mode: 0o700 })
        Fs.writeFileSync(optionsOf(id), encode(world), { mode: 0o600 })
      }),
    remove: (id) =>
      attempt(() => {
        // The options last: with them, another removal can delete what a failed one left.
        for (const path of ["-media", "-wal", "-shm", "-journal", ""].map((end) => dataOf(id) + end)) {
          Fs.rmSync(path, { recursive: true, force: true })
        }
        Fs.rmSync(optionsOf(id), { force: true })
      }, `the world "${id}" has ended, but its files in ${folder} can't be deleted: check their permissions, then remove it again`)
  }
}

export const make = (data: string): WorldFiles => data === inMemory ? nothing : beside(data)
