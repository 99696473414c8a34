/**
 * The program's name and version, as `--version` prints them.
 * The bundle carries the version as a constant, so that a moved `dist` needs no package.json beside it; run from source, it is read from there.
 */
import { readFileSync } from "node:fs"

declare const __PLAZA_VERSION__: string | undefined

const fromManifest = (): string => {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
  if (typeof manifest === "object" && manifest !== null && "version" in manifest && typeof manifest.version === "string") {
    return manifest.version
  }
  throw new Error("package.json of plaza-stock-sync names no version: restore its \"version\" field")
}

export const name = "plaza-stock-sync"

export const version: string = typeof __PLAZA_VERSION__ === "string" ? __PLAZA_VERSION__ : fromManifest()
