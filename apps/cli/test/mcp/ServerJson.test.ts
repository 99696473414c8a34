/** The description of `plaza mcp` for the MCP registry. */
import { expect, it } from "@effect/vitest"
import { Schema } from "effect"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../../../${path}`, import.meta.url)), "utf8")

const Argument = Schema.Struct({ type: Schema.Literal("positional"), value: Schema.String, description: Schema.String })

/** The part of the registry's format, version 2025-12-11, that the file uses, with its limits. */
const Server = Schema.Struct({
  $schema: Schema.Literal("https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"),
  name: Schema.String.check(Schema.isPattern(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/), Schema.isMaxLength(200)),
  title: Schema.NonEmptyString.check(Schema.isMaxLength(100)),
  description: Schema.NonEmptyString.check(Schema.isMaxLength(100)),
  version: Schema.String,
  websiteUrl: Schema.String,
  repository: Schema.Struct({ url: Schema.String, source: Schema.Literal("github"), subfolder: Schema.String }),
  packages: Schema.Tuple([Schema.Struct({
    registryType: Schema.Literal("npm"),
    identifier: Schema.String,
    version: Schema.String,
    runtimeHint: Schema.Literal("npx"),
    transport: Schema.Struct({ type: Schema.Literal("stdio") }),
    packageArguments: Schema.Array(Argument),
    environmentVariables: Schema.Array(Schema.Struct({
      name: Schema.String,
      description: Schema.String,
      format: Schema.optionalKey(Schema.Literal("filepath")),
      placeholder: Schema.optionalKey(Schema.String)
    }))
  })])
})

const Manifest = Schema.Struct({
  name: Schema.String,
  version: Schema.String,
  mcpName: Schema.String,
  repository: Schema.Struct({ url: Schema.String, directory: Schema.String })
})

const server = Schema.decodeUnknownSync(Schema.fromJsonString(Server), { onExcessProperty: "error" })(read("apps/cli/server.json"))
const manifest = Schema.decodeUnknownSync(Schema.fromJsonString(Manifest))(read("apps/cli/package.json"))

it("has the name of the repository's owner, which the package repeats", () => {
  const [, owner = "", repository = ""] = /^git\+https:\/\/github\.com\/([\w-]+)\/([\w-]+)\.git$/.exec(manifest.repository.url) ?? []
  expect(server.name).toBe(`io.github.${owner}/${repository}`)
  expect(manifest.mcpName).toBe(server.name)
  expect(server.repository).toMatchObject({ url: `https://github.com/${owner}/${repository}`, subfolder: manifest.repository.directory })
  expect(server.websiteUrl).toBe(`https://github.com/${owner}/${repository}/blob/main/docs/mcp.md`)
})

it("has the name and version of the package, in both places", () => {
  const [{ identifier, version }] = server.packages
  expect([identifier, version, server.version]).toEqual([manifest.name, manifest.version, manifest.version])
})

it("names a command and variables that the program has", () => {
  const [{ environmentVariables, packageArguments }] = server.packages
  const reference = read("docs/reference/plaza.md")
  expect(reference).toContain(`\n## plaza ${packageArguments.map(({ value }) => value).join(" ")}\n`)
  expect(environmentVariables.filter(({ name }) => !reference.includes(`\n| \`${name}\` |`))).toEqual([])
})

it("is not registered, as the documentation says with its name", () => {
  expect(read("docs/mcp.md")).toContain(`\`${server.name}\`. It is not registered yet`)
})
