/**
 * Writes `llms.txt`, the list of pages for language models, the pages as Markdown beside their HTML, and `llms-full.txt`, the pages of the
 * guides, concepts and reference in one file. See https://llmstxt.org.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { api, fileOf, type Group } from "./Navigation.ts"

/** The first paragraph of a page as one line without links. */
const summaryOf = (text: string): string => {
  const paragraph = text.replace(/^---\n[^]*?\n---\n/, "").replace(/^```[^]*?^```$/gm, "").split(/\n{2,}/)
    .find((part) => /^[\w`[*]/.test(part.trim())) ?? ""
  const line = paragraph.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/\s+/g, " ").trim()
  return (/^.*?\.(?= |$)/.exec(line)?.[0] ?? line).replace(/:$/, ".")
}

const markdownIn = (folder: string) => readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".md"))

/** Whether a group is not in `llms-full.txt`: long, or for contributors. */
const isLeftOut = ({ text }: Group) => text.startsWith(api) || text === "Project"

/** Writes the files into a built site. `pages` is the folder with the Markdown, `base` the path of the site. */
export const write = (groups: ReadonlyArray<Group>, { base, pages, site }: Readonly<Record<"base" | "pages" | "site", string>>): void => {
  const read = (link: string) => readFileSync(join(pages, fileOf(link)), "utf8")
  const entry = ({ link, text }: Group["items"][number]) => `- [${text}](${base}${fileOf(link)}): ${summaryOf(read(link))}`
  // VitePress adds the base path to links of the HTML.
  for (const file of markdownIn(pages)) {
    writeFileSync(join(site, file), readFileSync(join(pages, file), "utf8").replaceAll("](/files/", `](${base}files/`))
  }
  const overview = readFileSync(join(pages, "overview.md"), "utf8")
  writeFileSync(
    join(site, "llms.txt"),
    `# Plaza\n\n> ${summaryOf(overview)}\n\n${
      groups.map(({ items, text }) => `## ${text}\n\n${items.map(entry).join("\n")}\n`).join("\n")
    }\n## Optional\n\n- [All pages in one file](${base}llms-full.txt): the pages without the API and the project.\n`
  )
  writeFileSync(
    join(site, "llms-full.txt"),
    groups.filter((group) => !isLeftOut(group)).flatMap(({ items }) => items.map(({ link }) => read(link).trim())).join("\n\n---\n\n") +
      "\n"
  )
}

/** The links of `llms.txt` and of the Markdown pages that name no file of the site. */
export const broken = (site: string, base: string): ReadonlyArray<string> => {
  const linksOf = (file: string) =>
    [
      ...readFileSync(join(site, file), "utf8").replace(/^```[^]*?^```$/gm, "").matchAll(
        /\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)\s]*)?\)/g
      )
    ]
      .map(([, link = ""]) => link)
  const targetOf = (file: string, link: string) => join(site, link.startsWith("/") ? relative(base, link) : join(dirname(file), link))
  return ["llms.txt", ...markdownIn(site)].flatMap((file) =>
    linksOf(file).filter((link) => !existsSync(targetOf(file, link))).map((link) => `${file}: ${link}`)
  )
}
