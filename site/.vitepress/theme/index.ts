/** VitePress's theme with a picture on the landing page and, for browsers without scripts, a list of all pages above each page. */
import { useData, withBase } from "vitepress"
import type { DefaultTheme as Options, Theme } from "vitepress"
import DefaultTheme from "vitepress/theme-without-fonts"
import { h } from "vue"
import picture from "./picture.svg?raw"
import "./style.css"

const allPages = () => {
  // True: `.vitepress/config.ts` sets one list of groups.
  const groups = useData<Options.Config>().theme.value.sidebar as ReadonlyArray<Options.SidebarItem>
  return h("details", { class: "all-pages" }, [
    h("summary", "All pages"),
    h("nav", { "aria-label": "All pages" }, groups.flatMap(({ items = [], text }) => [
      h("p", text),
      h("ul", items.map((item) => h("li", h("a", { href: withBase(item.link ?? "/") }, item.text))))
    ]))
  ])
}

export default {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      "doc-before": () => h(allPages),
      "home-hero-image": () => h("div", { class: "picture", innerHTML: picture })
    })
} satisfies Theme
