/** A built program in another folder than that of its build. */
import { cpSync, mkdirSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"

/** Copies the `dist` folder of an app and puts libsql beside it, which is its dependency on a Node without SQLite. */
export const copyProgram = (dist: string, target: string): void => {
  cpSync(dist, target, { recursive: true })
  mkdirSync(join(target, "node_modules"))
  symlinkSync(join(dirname(dist), "node_modules/libsql"), join(target, "node_modules/libsql"))
}
