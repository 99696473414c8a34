/**
 * Writes `openapi.json`, the OpenAPI document of a sandbox with default assumptions, and `control-openapi.json`, that of the
 * control API: `pnpm --filter @plaza/sandbox openapi`.
 */
// Scripts are outside of the package's TypeScript configuration, which has Node's types.
/// <reference types="node" />
import * as OpenApi from "effect/http-api/OpenApi"
import { writeFileSync } from "node:fs"
import { argv } from "node:process"
import { fileURLToPath } from "node:url"
import { defaults } from "../src/Assumptions.ts"
import { ControlApi } from "../src/control/ControlApi.ts"
import { openApi } from "../src/OpenApiDocument.ts"

const file = (name: string, document: OpenApi.OpenAPISpec) => ({
  /** The path of the committed file. */
  path: fileURLToPath(new URL(`../${name}`, import.meta.url)),
  /** Its current text. */
  text: `${JSON.stringify(document, undefined, 2)}\n`
})

export const sandbox = file("openapi.json", openApi(defaults))
export const control = file("control-openapi.json", OpenApi.fromApi(ControlApi))

if (argv[1] === fileURLToPath(import.meta.url)) {
  for (const { path, text } of [sandbox, control]) {
    writeFileSync(path, text)
  }
}
