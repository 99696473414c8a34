/**
 * The version is written once, in package.json, and every way of running the program tells it.
 */
import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { name, version } from "../src/version.ts"

it("run from source, the program knows the version of its package.json", () => {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
  expect(manifest).toMatchObject({ version, bin: { [name]: "./dist/plaza-stock-sync.cjs" } })
})
