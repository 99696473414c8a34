/**
 * Writes `openapi.json`, the OpenAPI document of a sandbox with default assumptions: `pnpm --filter @plaza/sandbox openapi`.
 */
// Scripts are outside of the package's TypeScript configuration, which has Node's types.
/// <reference types="node" />
import { writeFileSync } from "node:fs"
import { argv } from "node:process"
import { fileURLToPath } from "node:url"
import { defaults } from "../src/Assumptions.js"
import { openApi } from "../src/OpenApiDocument.js"

/** The path of the committed file. */
export const path = fileURLToPath(new URL("../openapi.json", import.meta.url))

/** The current text of the file. */
export const render = (): string => `${JSON.stringify(openApi(defaults), undefined, 2)}\n`

if (argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(path, render())
}
