/**
 * A disk of some megabytes that a test can fill, where this user may mount one: root may, on Linux, if the container lets it. Knows nothing of
 * what is kept on it.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { stderr } from "node:process"
import { Effect } from "effect"

const mount = (): string => {
  const folder = mkdtempSync(Path.join(tmpdir(), "plaza-disk-"))
  try {
    mkdirSync(folder, { recursive: true })
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m", "plaza", folder], { stdio: "pipe" })
    return folder
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

const unmount = (folder: string): void => {
  execFileSync("umount", ["--lazy", folder])
  rmSync(folder, { recursive: true, force: true })
}

const tried = (): string | undefined => {
  try {
    unmount(mount())
    return undefined
  } catch {
    return "this user may not mount a disk here: run the tests as root of a machine to fill one"
  }
}

/** Why there is none; undefined where there is one. */
export const missing = tried()
if (missing !== undefined) stderr.write(`skipped: ${missing}\n`)

/** Mounts one until the scope ends. */
export const scoped = Effect.map(
  Effect.acquireRelease(Effect.sync(mount), (folder) => Effect.sync(() => unmount(folder))),
  (folder) => {
    const ballast = Path.join(folder, "ballast")
    return {
      folder,
      fill: Effect.sync(() => {
        for (let written = 0;; written++) {
          try {
            writeFileSync(ballast, Buffer.alloc(4_096), { flag: "a" })
          } catch {
            return written
          }
        }
      }),
      free: Effect.sync(() => rmSync(ballast))
    }
  }
)
