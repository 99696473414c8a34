/** The API reference has every export of the packages. The packages must be built. */
import * as Client from "@plaza/client"
import * as Domain from "@plaza/domain"
import * as Sandbox from "@plaza/sandbox"
import * as Sdk from "@plaza/sdk"
import { describe, expect, it } from "vitest"
import * as ApiReference from "../src/ApiReference.ts"

const pages = new Map(ApiReference.make().map(({ page, text }) => [page, text]))
const textOf = (page: string) => pages.get(page) ?? ""
const headingsOf = (page: string) => [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading)

/** The names of a module, and those of its namespaces. */
const namesOf = (module: object): ReadonlyArray<string> =>
  Object.entries(module).flatMap(([name, value]: readonly [string, unknown]) =>
    typeof value === "object" && value !== null && Object.prototype.toString.call(value) === "[object Module]"
      ? [name, ...namesOf(value).map((inner) => `${name}.${inner}`)]
      : [name]
  )

describe("the API reference", () => {
  it.each([["api/domain", Domain], ["api/client", Client], ["api/sdk", Sdk], ["api/sandbox", Sandbox]])(
    "of %s has every value of the package",
    (page, module) => {
      const headings = headingsOf(page)
      expect(namesOf(module).length).toBeGreaterThan(10)
      expect(namesOf(module).filter((name) => !headings.includes(name))).toEqual([])
    }
  )

  it("has the members of a service with their docstrings and examples", () => {
    expect(textOf("api/client")).toContain(`### Chat.send

Sends a message. Once: the client doesn't send the request again after an ambiguous failure`)
    expect(textOf("api/client")).toContain(
      "```ts\nreadonly send: (id: ConversationId, text: string) => Effect.Effect<Message, Chat.SendFailure>\n```"
    )
  })

  it("has the declarations of a package that has a file of them", () => {
    expect(textOf("api/sdk")).toContain("## createPlaza\n\nCreates clients")
    expect(textOf("api/sdk")).toMatch(/```ts\nclass NotFound extends PlazaError \{\n[^}]* readonly _tag: "NotFound"\n/)
  })

  it("has types where the source has code", () => {
    expect(textOf("api/client")).toContain(
      "const layer: (options: Options) => Layer.Layer<Services, InvalidSettings, HttpClient.HttpClient>"
    )
    expect(textOf("api/client")).not.toMatch(/```ts\n\n?```/)
  })
})
