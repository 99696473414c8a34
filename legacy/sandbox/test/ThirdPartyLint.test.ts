/**
 * Two third-party linters check the OpenAPI documents of the contract, of the sandbox and of its control API: by their recommended
 * rules, warnings count like errors.
 */
import { createConfig, lintFromString } from "@redocly/openapi-core"
import spectral from "@stoplight/spectral-core"
import { oas } from "@stoplight/spectral-rulesets"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"

const files = ["../openapi.json", "../../domain/openapi.json", "../control-openapi.json"].map((path) =>
  fileURLToPath(new URL(path, import.meta.url))
)

describe.each(files)("%s", (path) => {
  const source = readFileSync(path, "utf8")

  it("passes Redocly, except for two ambiguous paths of the document", async () => {
    const config = await createConfig({ extends: ["recommended-strict"] })
    const problems = await lintFromString({ source, absoluteRef: path, config })
    expect(problems.map(({ message, ruleId }) => `${ruleId}: ${message}`)).toEqual(
      path.endsWith("/control-openapi.json") ? [] : [
        "no-ambiguous-paths: Paths should resolve unambiguously. Found two ambiguous paths: `/users/by-username/{username}` and `/users/{id}/follow`."
      ]
    )
  })

  it("passes Spectral, except for the missing contact", async () => {
    const linter = new spectral.Spectral()
    linter.setRuleset(new spectral.Ruleset({ extends: [[oas, "recommended"]] }))
    const problems = await linter.run(source)
    expect(problems.map(({ code, message }) => `${code}: ${message}`)).toEqual(["info-contact: Info object must have \"contact\" object."])
  })
})
