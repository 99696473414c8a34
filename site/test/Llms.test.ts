/** `llms.txt` lists the pages of the navigation, and its check finds what leads nowhere. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, it } from "vitest"
import * as Llms from "../src/Llms.ts"

const folder = mkdtempSync(join(tmpdir(), "plaza-llms-"))
afterAll(() => rmSync(folder, { recursive: true }))
const pages = join(folder, "pages")
const site = join(folder, "site")
for (const name of ["pages/guides", "site/guides"]) mkdirSync(join(folder, name), { recursive: true })

const groups = [
  { text: "Guides", items: [{ text: "Overview", link: "/overview.html" }, { text: "Ship orders", link: "/guides/ship-orders.html" }] },
  { text: "Project", items: [{ text: "Words", link: "/words.html" }] }
]
const write = (texts: Readonly<Record<string, string>>, base = "/") => {
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(pages, name), text)
  Llms.write(groups, { base, pages, site })
  return readFileSync(join(site, "llms.txt"), "utf8")
}

const texts = {
  "overview.md": "# Plaza\n\nPlaza is a [toolkit](./words.md) for shops: it runs. It stops.\n",
  "guides/ship-orders.md": "# Ship orders\n\n```sh\nplaza me\n```\n\nShipping is final. See [words](../words.md#a).\n",
  "words.md": "# Words\n\n| a | b |\n|---|---|\n\nOne line.\n"
}

it("has one line for each page, with its first sentence, below the base path", () => {
  expect(write(texts, "/plaza/")).toBe(`# Plaza

> Plaza is a toolkit for shops: it runs.

## Guides

- [Overview](/plaza/overview.md): Plaza is a toolkit for shops: it runs.
- [Ship orders](/plaza/guides/ship-orders.md): Shipping is final.

## Project

- [Words](/plaza/words.md): One line.

## Optional

- [All pages in one file](/plaza/llms-full.txt): the pages without the API and the project.
`)
  expect(Llms.broken(site, "/plaza/")).toEqual([])
  expect(readFileSync(join(site, "llms-full.txt"), "utf8")).not.toContain("# Words")
})

it("reports links of the list and of its pages that lead nowhere", () => {
  write({ ...texts, "words.md": "# Words\n\n[A file](/files/none.csv)\n" }, "/plaza/")
  expect(Llms.broken(site, "/plaza/")).toEqual(["words.md: /plaza/files/none.csv"])
  write({ ...texts, "words.md": "# Words\n\nSee [none](./none.md) and [the file](/files/none.csv).\n" })
  expect(Llms.broken(site, "/")).toEqual(["words.md: ./none.md", "words.md: /files/none.csv"])
  rmSync(join(site, "guides/ship-orders.md"))
  expect(Llms.broken(site, "/")).toContain("llms.txt: /guides/ship-orders.md")
})
