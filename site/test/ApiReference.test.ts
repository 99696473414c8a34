/** The API reference has every export of the packages. The packages must be built. */
import * as Client from "@plaza/client"
import * as Domain from "@plaza/domain"
import * as Sandbox from "@plaza/sandbox"
import * as Sdk from "@plaza/sdk"
import { describe, expect, it } from "vitest"
import * as ApiReference from "../src/ApiReference.ts"

const references = ApiReference.make()
const pages = new Map(references.flatMap((reference) => reference.pages.map(({ page, text }) => [page, text] as const)))
const textOf = (page: string) => pages.get(page) ?? ""
/** The headings of all pages of a package. That of a module is its name. */
const headingsOf = (folder: string) =>
  [...pages].filter(([page]) => page.startsWith(`api/${folder}/`)).flatMap(([, text]) =>
    [...text.matchAll(/^#+ (?:@plaza\/\w+: )?(.+)$/gm)].map(([, heading = ""]) => heading)
  )

/** The names of a module, and those of its namespaces. */
const namesOf = (module: object): ReadonlyArray<string> =>
  Object.entries(module).flatMap(([name, value]: readonly [string, unknown]) =>
    typeof value === "object" && value !== null && Object.prototype.toString.call(value) === "[object Module]"
      ? [name, ...namesOf(value).map((inner) => `${name}.${inner}`)]
      : [name]
  )

describe("the API reference", () => {
  it.each([["domain", Domain], ["client", Client], ["sdk", Sdk], ["sandbox", Sandbox]])(
    "of %s has every value of the package",
    (folder, module) => {
      const headings = headingsOf(folder)
      expect(namesOf(module).length).toBeGreaterThan(10)
      expect(namesOf(module).filter((name) => !headings.includes(name))).toEqual([])
    }
  )

  it("has the members of a service with their docstrings and examples", () => {
    expect(textOf("api/client/Chat")).toContain(`### Chat.send

Sends a message. Once: the client doesn't send the request again after an ambiguous failure`)
    expect(textOf("api/client/Chat")).toContain(
      "```ts\nreadonly send: (id: ConversationId, text: string) => Effect.Effect<Message, Chat.SendFailure>\n```"
    )
  })

  it("has the declarations of a package that has a file of them", () => {
    expect(textOf("api/sdk/index")).toContain("## createPlaza\n\nCreates clients")
    expect(textOf("api/sdk/errors")).toMatch(/```ts\nclass NotFound extends PlazaError \{\n[^}]* readonly _tag: "NotFound"\n/)
  })

  it("has types where the source has code", () => {
    expect(textOf("api/client/Plaza")).toContain(
      "const layer: (options: Options) => Layer.Layer<Services, InvalidSettings, HttpClient.HttpClient>"
    )
    expect([...pages.values()].filter((text) => /```ts\n\n?```/.test(text))).toEqual([])
  })

  it("has a page for each public module, which shows how it is imported, and an index with all of them", () => {
    const importOf = (page: string) => /```ts\n(import [^`]+)\n```/.exec(textOf(page))?.[1]
    expect(importOf("api/client/Plaza")).toBe(`import { Plaza } from "@plaza/client"`)
    expect(importOf("api/client/node")).toBe(`import { layerWith, layerConfig, layer } from "@plaza/client/node"`)
    expect(importOf("api/client/Chat")).toBe(`import { Chat } from "@plaza/client"\nimport { make, layer } from "@plaza/client/Chat"`)
    expect(importOf("api/sandbox/promise")).toBe(`import { startSandbox } from "@plaza/sandbox/promise"`)
    expect(importOf("api/domain/Errors")).toBe(`import * as Errors from "@plaza/domain/Errors"`)
    for (const { pages: [index, ...modules] } of references)
      for (const { label } of modules) expect(index?.text).toContain(`| [${label}](./${label}.md) | `)
  })
})
