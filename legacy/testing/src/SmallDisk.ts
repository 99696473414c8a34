/** A disk of 8 MB that a test can fill. Needs permission to mount: root on Linux, if the container allows it. */
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { stderr } from "node:process"

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

const unavailable = (): string | undefined => {
  try {
    unmount(mount())
    return undefined
  } catch {
    return "this user may not mount a disk here: run the tests as root of a machine to fill one"
  }
}

/** Why there is no such disk; undefined if there is one. */
export const missing = unavailable()
if (missing !== undefined) stderr.write(`skipped: ${missing}\n`)

/** Mounts a disk until the scope closes. */
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
