/** Writes `openapi.json` from the contract: `pnpm --filter @plaza/domain openapi`. */
// The package's own types stay free of Node's; this script alone needs them.
/// <reference types="node" />
import * as OpenApi from "effect/http-api/OpenApi"
import { writeFileSync } from "node:fs"
import { argv } from "node:process"
import { fileURLToPath } from "node:url"
import { PlazaApi } from "../src/PlazaApi.ts"

/** Path of the committed file. */
export const path = fileURLToPath(new URL("../openapi.json", import.meta.url))

/** Renders the file. */
export const render = (): string => `${JSON.stringify(OpenApi.fromApi(PlazaApi), undefined, 2)}\n`

if (argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(path, render())
}
