/** The navigation and its pages. The packages and the site must be built. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import * as ApiReference from "../src/ApiReference.ts"
import { api, fileOf, groupsOf } from "../src/Navigation.ts"
import { root, site } from "../src/Paths.ts"
import { pages } from "./support/Blocks.ts"

const references = ApiReference.make()
const titleOf = (page: string) => /^# (.+)$/m.exec(readFileSync(join(root, page), "utf8"))?.[1] ?? page
const titles = new Map([
  ...pages.filter((page) => page.startsWith("docs/") && page !== "docs/README.md").map((page) =>
    [page.slice("docs/".length, -".md".length).replace(/(^|\/)README$/, "$1index"), titleOf(page)] as const
  ),
  ...["overview", "examples", "contributing", "figures"].map((page) => [page, page] as const),
  ...references.flatMap((reference) => reference.pages.map(({ label, page }) => [page, label] as const))
])
const groups = groupsOf(titles, references)
const items = groups.flatMap(({ items: list, text }) => list.map((item) => ({ ...item, group: text })))

/** A name without what does not tell it from another one. */
const distinctive = (text: string) =>
  text.toLowerCase().replace(/\b(?:the|a|an|of|in|to|your)\b/g, "").replace(/[^a-z0-9]/g, "").replace(/s$/, "")

describe("the navigation", () => {
  it("has every page of the documentation once, except the records of decisions", () => {
    const links = items.map(({ link }) => link)
    expect(new Set(links).size).toBe(links.length)
    const expected = [...titles.keys()].filter((page) => !/^decisions\/\d/.test(page))
      .map((page) => page.endsWith("/index") ? `/${page.slice(0, -"index".length)}` : `/${page}.html`)
    expect(links.toSorted()).toEqual(expected.toSorted())
  })

  it("has no two entries with the same or nearly the same name", () => {
    // Modules of different packages may have one name. Their groups distinguish them.
    const names = items.map(({ group, text }) => group.startsWith(api) ? `${group} ${distinctive(text)}` : distinctive(text))
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
    expect(items.filter(({ group, text }) => distinctive(group) === distinctive(text) && !group.startsWith(api))).toEqual([])
  })

  it("reports a page that does not exist", () => {
    expect(() => groupsOf(new Map([...titles].filter(([page]) => page !== "questions")), references)).toThrow("questions")
  })

  it("lists a page without a place at the end of the reference", () => {
    const withNew = groupsOf(new Map([...titles, ["guides/new", "New"]]), references)
    expect(withNew.find(({ text }) => text === "Reference")?.items.at(-1)).toEqual({ text: "New", link: "/guides/new.html" })
  })
})

describe("a page of the built site", () => {
  const html = (link: string) => readFileSync(join(site, fileOf(link).replace(/md$/, "html")), "utf8")
  const pagerOf = (link: string, direction: "next" | "prev") =>
    new RegExp(`<a class="[^"]*pager-link ${direction}" href="([^"]*)"`).exec(html(link))?.[1]
  const links = items.map(({ link }) => link)

  it("leads to the previous and the next one of the sidebar", () => {
    expect(links.map((link) => pagerOf(link, "next"))).toEqual([...links.slice(1), undefined])
    expect(links.map((link) => pagerOf(link, "prev"))).toEqual([undefined, ...links.slice(0, -1)])
  })

  it("has no neighbours if the sidebar does not list it", () => {
    const record = "/decisions/037-documentation-site.html"
    expect([pagerOf(record, "prev"), pagerOf(record, "next")]).toEqual([undefined, undefined])
  })

  it("shows the version", () => {
    // True: npm requires this field of a manifest.
    const { version } = JSON.parse(readFileSync(join(root, "packages/client/package.json"), "utf8")) as { readonly version: string }
    for (const link of ["/", ...links.slice(0, 5)]) expect(html(link)).toContain(`${version}, not published`)
  })
})

describe("the landing page", () => {
  it("starts as the README does", () => {
    const [, command = ""] = /```sh\n(npx .+)\n```/.exec(readFileSync(join(root, "site/landing.md"), "utf8")) ?? []
    expect(command).not.toBe("")
    expect(readFileSync(join(root, "README.md"), "utf8").split("\n")).toContain(command)
  })

  it("installs as Getting started does", () => {
    const lines = readFileSync(join(root, "site/landing.md"), "utf8").split("\n").filter((line) => line.includes("~/plaza-packages"))
    expect(lines).toHaveLength(2)
    // Lines of blocks, and code in tables.
    const started = readFileSync(join(root, "docs/getting-started.md"), "utf8").split(/[\n`]/)
    for (const line of lines) expect(started).toContain(line.replace(/ +#.*/, ""))
  })
})

describe("the questions", () => {
  const sections = readFileSync(join(root, "docs/questions.md"), "utf8").split(/^### /m).slice(1).map((section) =>
    section.split(/^## /m)[0] ?? ""
  )

  it("have an answer of two lines at most, with a link", () => {
    const wrong = sections.filter((section) => {
      const [, ...lines] = section.trim().split("\n").filter((line) => line !== "")
      return lines.length < 1 || lines.length > 2 || lines.some((line) => line.length > 240) || !/\]\([^)]+\)/.test(lines.join("\n"))
    })
    expect(sections.length).toBeGreaterThan(40)
    expect(wrong).toEqual([])
  })
})
