/**
 * Writes `openapi.json` as a sandbox answers by default: `pnpm --filter @plaza/sandbox openapi`.
 */
// Scripts stand outside of the package's own configuration, which brings Node's types.
/// <reference types="node" />
import { writeFileSync } from "node:fs"
import { argv } from "node:process"
import { fileURLToPath } from "node:url"
import { defaults } from "../src/Assumptions.js"
import { openApi } from "../src/OpenApiDocument.js"

/** Where the committed copy stands. */
export const path = fileURLToPath(new URL("../openapi.json", import.meta.url))

/** The file's text, as it should be now. */
export const render = (): string => `${JSON.stringify(openApi(defaults), undefined, 2)}\n`

if (argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(path, render())
}
