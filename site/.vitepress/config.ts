/** The settings of the site. `src/build.ts` writes the pages and the navigation first. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitepress"
import { fileOf, type Group } from "../src/Navigation.ts"
import { base, navigation, pages, root, site } from "../src/Paths.ts"
import * as Search from "../src/Search.ts"

// True: `src/build.ts` writes this file.
const sidebar = JSON.parse(readFileSync(navigation, "utf8")) as Array<Group & { items: Array<Group["items"][number]> }>

/** The files of the pages in the sidebar. */
const links = new Set(sidebar.flatMap(({ items }) => items.map(({ link }) => fileOf(link))))

// True: npm requires this field of a manifest. All packages have one version.
const { version } = JSON.parse(readFileSync(join(root, "packages/client/package.json"), "utf8")) as { readonly version: string }

export default defineConfig({
  srcDir: pages,
  outDir: site,
  cacheDir: fileURLToPath(new URL("../build/cache", import.meta.url)),
  title: "Plaza",
  description: "A TypeScript toolkit for the Social and Store Developer Interface v1",
  base,
  // Without an icon, browsers request one.
  head: [["link", { rel: "icon", href: "data:," }]],
  // The index of the search is loaded on demand.
  vite: { build: { chunkSizeWarningLimit: 1_300 } },
  markdown: {
    // The default themes have comments with too little contrast.
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    // The anchors of GitHub, so that a link leads to the same heading in the repository.
    anchor: { slugify: (heading) => heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "").trim().replaceAll(" ", "-") },
    config: ({ renderer, utils }) => {
      // Browsers break a line after a hyphen, so `--delimiter` would lose its dashes. Long words may break.
      renderer.rules["code_inline"] = (tokens, index) => {
        const words = utils.escapeHtml(tokens[index]?.content ?? "").split(" ")
          .map((word) => word.includes("-") && word.length <= 32 ? `<span class="unbroken">${word}</span>` : word)
        return `<code v-pre>${words.join(" ")}</code>`
      }
    }
  },
  // A page that the sidebar does not list, such as a record of a decision, has no neighbours.
  transformPageData: ({ frontmatter, relativePath }) =>
    links.has(relativePath) ? {} : { frontmatter: { ...frontmatter, prev: false, next: false } },
  themeConfig: {
    nav: [
      { text: "Get started", link: "/getting-started" },
      { text: "Questions", link: "/questions" },
      { text: "Reference", link: "/reference/" },
      { text: `${version}, not published`, link: "/questions#is-plaza-published-on-npm" }
    ],
    sidebar,
    outline: [2, 3],
    search: { provider: "local", options: { detailedView: true, miniSearch: Search.options } }
  }
})
