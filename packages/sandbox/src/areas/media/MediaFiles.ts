/**
 * The folder of uploaded files, beside the data file. A file is written before the row that names it, so a kill leaves at
 * most a file without a row; the next start deletes those.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SandboxError } from "../../SandboxError.ts"
import { inMemory, restrict } from "../../storage/Database.ts"
import { MediaRepo } from "./MediaRepo.ts"

/** Restricts a file or folder to its owner, where the file system has modes. */
const makePrivate = (path: string, mode: number): Effect.Effect<void> =>
  Effect.suspend(() =>
    (Fs.lstatSync(path).mode & 0o077) === 0
      ? Effect.void
      : restrict(path, mode)
  )

/** A folder with its identity, because another folder may replace it at its path. */
interface Folder {
  readonly path: string
  readonly isSame: () => boolean
}

const folderAt = (path: string): Folder => {
  const { dev, ino } = Fs.lstatSync(path)
  return {
    path,
    isSame: () => {
      const now = Fs.lstatSync(path, { throwIfNoEntry: false })
      return now !== undefined && now.dev === dev && now.ino === ino
    }
  }
}

/** Creates a folder that only its owner can enter, whatever the umask. */
const createPrivate = (path: string): void => {
  Fs.mkdirSync(path, { mode: 0o700 })
  Fs.chmodSync(path, 0o700)
}

/** Returns the folder, and creates it if necessary. */
type GetFolder = () => Folder

/** A folder that the first upload creates, because few tests upload anything. */
const temporary: Effect.Effect<GetFolder, never, Scope.Scope> = Effect.gen(function*() {
  let created: Folder | undefined
  const create = (): Folder => {
    try {
      const path = Fs.mkdtempSync(join(tmpdir(), "plaza-sandbox-"))
      Fs.chmodSync(path, 0o700)
      return folderAt(path)
    } catch (cause) {
      throw new SandboxError({ message: "the folder for temporary files can't be written: uploads need room there", cause })
    }
  }
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => created?.isSame() === true ? Fs.rmSync(created.path, { recursive: true, force: true }) : undefined)
  )
  return () => created ??= create()
})

const pathOf = (data: string): string => `${data}-media`

/** The name of an uploaded file: the id of its database and a number. */
const nameOf = (id: string, number: number): string => `upload-${id}-${String(number).padStart(6, "0")}`

/** The number in the name of a file, if the database with this id wrote it. */
const numberOf = (id: string, name: string): number | undefined => {
  const [, ofDatabase, number] = /^upload-([0-9a-f]{16})-(\d{6,15})$/.exec(name) ?? []
  return ofDatabase === id ? Number(number) : undefined
}

const anyId = (name: string): string => /^upload-([0-9a-f]{16})-/.exec(name)?.[1] ?? ""

/** Why a folder can't be used. Every entry must be a file that a sandbox wrote. */
const problemOf = (path: string, idOf: (name: string) => string): string | undefined => {
  const stat = Fs.lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined) {
    return undefined
  }
  if (stat.isSymbolicLink()) {
    return "is a symbolic link, and the sandbox writes and deletes uploads only in its own folder: remove the link or name another data file"
  }
  if (!stat.isDirectory()) {
    return "is not a folder, and uploads are stored in a folder beside the data file: move it away or name another data file"
  }
  const foreign = Fs.readdirSync(path, { withFileTypes: true })
    .find((entry) => !entry.isFile() || numberOf(idOf(entry.name), entry.name) === undefined)
  return foreign === undefined
    ? undefined
    : `contains "${foreign.name}", which this sandbox did not write: move it away or name another data file`
}

const unusable = (data: string, cause: unknown): SandboxError =>
  new SandboxError({
    message: `the folder ${pathOf(data)} for uploads can't be used: check its permissions or name another data file`,
    cause
  })

const check = (data: string, idOf: (name: string) => string): Effect.Effect<void, SandboxError> =>
  Effect.flatMap(
    Effect.try({ try: () => problemOf(pathOf(data), idOf), catch: (cause) => unusable(data, cause) }),
    (problem) => problem === undefined ? Effect.void : Effect.fail(new SandboxError({ message: `${pathOf(data)} ${problem}` }))
  )

/** Rejects a data file if its folder of uploads contains foreign files, before anything is created. */
export const checkFolder = (data: string): Effect.Effect<void, SandboxError> => data === inMemory ? Effect.void : check(data, anyId)

/** The folder of a data file. */
const folderOf = (data: string, id: string): Effect.Effect<Folder, SandboxError> =>
  Effect.andThen(
    check(data, () => id),
    Effect.try({
      try: () => {
        if (!Fs.existsSync(pathOf(data))) {
          createPrivate(pathOf(data))
        }
        return folderAt(Fs.realpathSync(pathOf(data)))
      },
      catch: (cause) => unusable(data, cause)
    })
  )

/** Deletes files of this database, unless the folder was replaced. */
const removeFrom = ({ isSame, path: folder }: Folder, files: ReadonlyArray<string>): void => {
  for (const file of files) {
    const path = join(folder, file)
    if (isSame() && Fs.lstatSync(path, { throwIfNoEntry: false })?.isFile() === true) {
      Fs.rmSync(path, { force: true })
    }
  }
}

/** Deletes files without a row, and restricts the others to their owner. Returns the largest number of a file. */
const tidy = (folder: Folder, id: string, named: ReadonlySet<string>): Effect.Effect<number> =>
  Effect.gen(function*() {
    const found = Fs.readdirSync(folder.path)
    removeFrom(folder, found.filter((file) => numberOf(id, file) !== undefined && !named.has(file)))
    // The sandbox wrote everything in the folder: see `folderOf`.
    yield* makePrivate(folder.path, 0o700)
    yield* Effect.forEach(
      found.filter((file) => named.has(file)),
      (file) => makePrivate(join(folder.path, file), 0o600),
      { discard: true }
    )
    return [...found, ...named].reduce((most, file) => Math.max(most, numberOf(id, file) ?? 0), 0)
  })

/** The files of an open folder. Numbers continue after `last`, so no name is reused. */
const ofFolder = (id: string, getFolder: GetFolder, last: number) => {
  const create = (file: string): number => {
    const folder = getFolder()
    if (!folder.isSame()) {
      throw Object.assign(new Error(`the folder ${folder.path} is gone or was replaced`), { code: "ENOENT" })
    }
    const opened = Fs.openSync(join(folder.path, file), "wx", 0o600)
    Fs.fchmodSync(opened, 0o600)
    return opened
  }
  const remove = (files: ReadonlyArray<string>): Effect.Effect<void> =>
    Effect.sync(() => {
      const own = files.filter((file) => numberOf(id, file) !== undefined)
      // A temporary folder may not exist yet.
      if (own.length > 0) {
        removeFrom(getFolder(), own)
      }
    })
  let number = last
  return {
    remove,
    /** Writes a new file in pieces. When that fails or is interrupted, the file is deleted. Names are never reused. */
    write: <A, E>(
      fill: (append: (bytes: Uint8Array) => void) => Effect.Effect<A, E>
    ): Effect.Effect<{ readonly file: string; readonly result: A }, E> =>
      Effect.suspend(() => {
        number += 1
        const file = nameOf(id, number)
        return Effect.acquireUseRelease(
          Effect.sync(() => create(file)),
          (opened) => fill((bytes) => Fs.writeFileSync(opened, bytes)),
          (opened) => Effect.sync(() => Fs.closeSync(opened))
        ).pipe(
          Effect.map((result) => ({ file, result })),
          Effect.onError(() => remove([file]))
        )
      })
  }
}

/** Part of the names of files in a temporary folder, which belongs to one sandbox. */
const temporaryId = "0".repeat(16)

const make = Effect.fnUntraced(function*(data: string) {
  if (data === inMemory) {
    return ofFolder(temporaryId, yield* temporary, 0)
  }
  const repo = yield* MediaRepo
  const id = repo.folderId()
  const folder = yield* folderOf(data, id)
  const last = yield* tidy(folder, id, new Set([...repo.files(), ...repo.snapshotFiles()]))
  return ofFolder(id, () => folder, last)
})

/**
 * The files of a database, whose lock protects them too. A failure of the disk is a defect, like one of the database.
 *
 * Files are written synchronously, as SQLite writes its own: under a test clock, a fiber that waits for the disk would be
 * overtaken by the clock.
 */
export class MediaFiles extends Context.Service<MediaFiles, ReturnType<typeof ofFolder>>()("@plaza/sandbox/MediaFiles") {
  static readonly layer = (data: string) => Layer.effect(MediaFiles, make(data))
}
