/** Packs each published package into a folder: `node scripts/tarballs.mjs FOLDER`. Requires built packages. */
import { mkdirSync } from "node:fs"
import { resolve } from "node:path"
import { pack, publishedFolders } from "./manifest.mjs"

const [, , target] = process.argv
if (target === undefined) throw new Error("name the folder for the tarballs: node scripts/tarballs.mjs FOLDER")
const folder = resolve(target)
mkdirSync(folder, { recursive: true })
for (const each of publishedFolders()) pack(each, ["--pack-destination", folder])
process.stdout.write(`The tarballs are in ${folder}.\n`)
