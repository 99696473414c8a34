/** The client with a sandbox in process, and the writes that the sandbox has carried out. */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Plaza } from "@plaza/client"
import * as SqliteClient from "@plaza/client/sqlite"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Layer } from "effect"
import { closeSync, openSync, readSync } from "node:fs"

export const world = (options: Partial<Plaza.Options> = {}, sandbox: Sandbox.Options = {}) =>
  Layer.provideMerge(
    Layer.unwrapEffect(Effect.map(Sandbox.Sandbox, ({ apiKey, baseUrl }) => Plaza.layer({ apiKey, baseUrl, ...options }))),
    Sandbox.layerHttpClient(sandbox)
  )

const unsupported = Effect.dieMessage("only reading is supported")

const openFile: FileSystem.FileSystem["open"] = (path) =>
  Effect.map(Effect.acquireRelease(Effect.sync(() => openSync(path, "r")), (fd) => Effect.sync(() => closeSync(fd))), (fd) => ({
    [FileSystem.FileTypeId]: FileSystem.FileTypeId,
    fd: FileSystem.FileDescriptor(fd),
    stat: unsupported,
    seek: () => unsupported,
    sync: unsupported,
    read: (buffer) => Effect.sync(() => FileSystem.Size(readSync(fd, buffer))),
    readAlloc: () => unsupported,
    truncate: () => unsupported,
    write: () => unsupported,
    writeAll: () => unsupported
  }))

/** Node's services with files that are read in one step. The virtual clock doesn't wait for a disk, and would pass timeouts. */
export const node = Layer.provideMerge(
  Layer.effect(FileSystem.FileSystem, Effect.map(FileSystem.FileSystem, (fs) => ({ ...fs, open: openFile }))),
  NodeContext.layer
)

export const journal = (filename = ":memory:") => SqliteClient.layer({ filename })

/** The writes of an operation, oldest first. */
export const commitsOf = (operation: string) =>
  Effect.map(Effect.flatMap(Sandbox.Sandbox, ({ commits }) => commits), (all) => all.filter((commit) => commit.operation === operation))
