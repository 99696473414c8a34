/** Copies the pages of `docs/` to the folder that VitePress reads, and adapts their links. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { pages, root } from "./Paths.ts"

/** Pages of the site that are not in `docs/`, or have another path there. */
const others = new Map([
  ["site/landing.md", "index"],
  ["docs/README.md", "overview"],
  ["CONTRIBUTING.md", "contributing"],
  ["benchmarks/RESULTS.md", "figures"],
  ["examples/README.md", "examples"]
])

/** Pages with a table that needs the whole width. */
const wide = new Set(["figures"])

/** The path of a page in the site, without `.md`, by its path in the repository; undefined for any other file. */
const pageOf = (file: string): string | undefined => {
  const other = others.get(file)
  if (other !== undefined) return existsSync(join(root, file)) ? other : undefined
  return /^docs\/.*\.md$/.test(file) ? file.slice("docs/".length, -".md".length).replace(/(^|\/)README$/, "$1index") : undefined
}

/** Outside of code, each link `](path#anchor)` to this repository. */
const linkPattern = /(^```[^]*?^```)|\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)/gm

/** A link of a page for the site. A file that is no page becomes a file of the site. */
const adapt = (page: string, from: string, target: string, anchor: string): string => {
  const file = join(dirname(page), target)
  const to = pageOf(file)
  if (to !== undefined) {
    const path = relative(dirname(from), to)
    return `](${path.startsWith(".") ? path : `./${path}`}.md${anchor})`
  }
  if (!existsSync(join(root, file)) || statSync(join(root, file)).isDirectory()) {
    throw new Error(`${page}: the link to ${target} names no file of the repository`)
  }
  // Servers know the type of a text file; a browser would download a file that ends with `.ts`.
  const asset = `files/${file}${/\.(?:json|ya?ml|csv)$/.test(file) ? "" : ".txt"}`
  mkdirSync(dirname(join(pages, "public", asset)), { recursive: true })
  cpSync(join(root, file), join(pages, "public", asset))
  return `](/${asset})`
}

/** Writes a page, and returns its title. */
export const write = (page: string, text: string): string => {
  const file = join(pages, `${page}.md`)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return (/^# (.+)$/m.exec(text)?.[1] ?? page).replaceAll("`", "")
}

/** Copies all pages. Returns their titles by their paths. */
export const copy = (): ReadonlyMap<string, string> => {
  const files = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".md"))
    .map((file) => join("docs", file)).filter((file) => !others.has(file))
  return new Map(
    [...files, ...others.keys()].flatMap((file) => {
      const page = pageOf(file)
      if (page === undefined) return []
      const text = readFileSync(join(root, file), "utf8").replace(linkPattern,
        (whole, code: string | undefined, target: string, anchor: string = "") =>
          code === undefined ? adapt(file, page, target, anchor) : whole)
      return [[page, write(page, wide.has(page) ? `---\naside: false\npageClass: wide\n---\n\n${text}` : text)] as const]
    })
  )
}
