/** Writes `openapi.json` from the contract: `pnpm --filter @plaza-legacy/domain openapi`. */
// The package's own types stay free of Node's; this script alone needs them.
/// <reference types="node" />
import { OpenApi } from "@effect/platform"
import { writeFileSync } from "node:fs"
import { argv } from "node:process"
import { fileURLToPath } from "node:url"
import { PlazaApi } from "../src/PlazaApi.ts"

/** Path of the committed file. */
export const path = fileURLToPath(new URL("../openapi.json", import.meta.url))

/** Renders the file. Additional properties are allowed, because new fields may appear at any time. */
export const render = (): string =>
  `${JSON.stringify(OpenApi.fromApi(PlazaApi, { additionalPropertiesStrategy: "allow" }), undefined, 2)}\n`

if (argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(path, render())
}
