/** A folder with files, beside a sandbox on a socket: what tests of the program begin with. */
import { NodeServices } from "@effect/platform-node"
import { Sandbox } from "@plaza/sandbox"
import { Effect, FileSystem, Layer } from "effect"

const layer = Layer.merge(NodeServices.layer, Sandbox.layerServer())
/** In an empty folder, beside a shop with a socket. */
export const inFolder = <A, E, R>(test: (folder: string) => Effect.Effect<A, E, R>) =>
  Effect.provide(Effect.scoped(Effect.flatMap(Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped()), test)),
    layer)
export const write = (path: string, content: string) =>
  Effect.flatMap(FileSystem.FileSystem, (files) => files.writeFileString(path, content))
export const csv = (wanted: Readonly<Record<string, number>>) =>
  `productId,stock\n${Object.entries(wanted).map(([id, stock]) => `"${id}",${stock}\n`).join("")}`
// A run waits for what may still take effect.
export const lateWrites = { STOCK_SYNC_LATE_WRITES: "2 seconds" }
export const wanted = {
  "MUG-BLUE-250": 4,
  "007": 0,
  "CAP/RED L": 7,
  "Ä-7": 1,
  "SET #3": 2,
  "50%-OFF-BOX": 3,
  "BOX?MYSTERY": 0,
  "ŁÓDŹ-PRINT": 9
}
export const ids = Object.keys(wanted)
