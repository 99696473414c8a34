/** The check of the site's links finds what leads nowhere. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { expect, it } from "vitest"
import * as Links from "../src/Links.ts"

const check = (files: Readonly<Record<string, string>>, base = "/") => {
  const folder = mkdtempSync(join(tmpdir(), "plaza-site-"))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  const result = Links.check(folder, base)
  rmSync(folder, { recursive: true })
  return result
}

it("accepts links to pages, folders, files and anchors", () => {
  expect(check({
    "index.html":
      `<a href="/a.html">a</a><a class="b" href="./b/#part-1">b</a><a href="/files/x%20y.txt">x</a><a href="https://effect.website">e</a>`,
    "a.html": `<h1 id="top" tabindex="-1">a</h1><a href="#top">top</a>`,
    "b/index.html": `<h2 id="part-1">1</h2><a href="../a.html">a</a>`,
    "files/x y.txt": ""
  })).toEqual({ count: 5, broken: [] })
})

it("reports links to missing pages, files and anchors", () => {
  expect(check({
    "index.html": `<a href="/missing.html">1</a><a href="/a.html#missing">2</a><a href="#missing">3</a><a href="/missing/">4</a>`,
    "a.html": `<a href="b.html">5</a>`
  }).broken.toSorted()).toEqual([
    "a.html: b.html",
    "index.html: #missing",
    "index.html: /a.html#missing",
    "index.html: /missing.html",
    "index.html: /missing/"
  ])
})

it("reports links that leave the base path", () => {
  const files = { "index.html": `<a href="/docs/a.html">1</a><a href="/a.html">2</a>`, "a.html": "" }
  expect(check(files, "/docs/").broken).toEqual(["index.html: /a.html"])
})
