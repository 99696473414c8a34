/** The settings of the site. `src/build.ts` writes the pages and the navigation first. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitepress"
import type { Group } from "../src/Navigation.ts"
import { base, navigation, pages, site } from "../src/Paths.ts"

// True: `src/build.ts` writes this file.
const sidebar = JSON.parse(readFileSync(navigation, "utf8")) as Array<Group & { items: Array<Group["items"][number]> }>

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
  vite: { build: { chunkSizeWarningLimit: 1_000 } },
  markdown: {
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
  themeConfig: {
    sidebar,
    outline: [2, 3],
    search: {
      provider: "local",
      options: {
        miniSearch: {
          searchOptions: {
            // Users look for the guides and the reference first. The browser gets the text of this function, so it stands alone.
            boostDocument: (page: string) => /\/(?:decisions|contributing|development|figures)/.test(page) ? 0.2 : 1
          }
        }
      }
    },
    docFooter: { prev: false, next: false }
  }
})
