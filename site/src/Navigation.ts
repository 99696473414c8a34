/** The order of the pages in the navigation. A page that has no place here stands at the end of the reference. */

/** A group of pages. A page is named by its path in the site, without `.md`. */
const order: ReadonlyArray<readonly [title: string, pages: ReadonlyArray<string>]> = [
  ["Start", ["index", "getting-started", "examples"]],
  ["Guides", [
    "guides/post-with-media",
    "guides/ship-orders",
    "guides/keep-stock-right",
    "guides/feeds-from-services",
    "guides/what-is-sent-again",
    "guides/chat-rules",
    "guides/handle-errors",
    "guides/test-your-application",
    "sandbox-in-tests",
    "guides/express-hono-next",
    "guides/effect-3",
    "guides/share-a-key",
    "deploy",
    "guides/run-a-fleet"
  ]],
  ["Concepts", ["concepts/delivery", "concepts/rate-limit", "concepts/latitude", "concepts/ledger", "concepts/drift"]],
  ["Reference", [
    "reference/index",
    "sdk",
    "client",
    "domain",
    "cli",
    "reference/plaza",
    "stock-sync",
    "reference/plaza-stock-sync",
    "stock-sync-watching",
    "fleet",
    "feeds",
    "sandbox",
    "reference/control-api",
    "sandbox-rules"
  ]],
  ["API", ["api/domain", "api/client", "api/sdk", "api/sandbox"]],
  ["Project", ["decisions/index", "figures", "benchmarks", "glossary", "development", "contributing"]]
]

/** A group as VitePress's sidebar has it. */
export interface Group {
  readonly text: string
  readonly items: ReadonlyArray<{ readonly text: string; readonly link: string }>
}

/** The groups with the titles of existing pages. Records of decisions are left out: their index lists them. */
export const groupsOf = (titles: ReadonlyMap<string, string>): ReadonlyArray<Group> => {
  const missing = order.flatMap(([, pages]) => pages).filter((page) => !titles.has(page))
  if (missing.length > 0) throw new Error(`the navigation names pages that do not exist: ${missing.join(", ")}`)
  const listed = new Set(order.flatMap(([, pages]) => pages))
  const others = [...titles.keys()].filter((page) => !listed.has(page) && !page.startsWith("decisions/")).sort()
  return order.map(([text, pages]) => ({
    text,
    items: [...pages, ...(text === "Reference" ? others : [])].map((page) => ({
      text: page === "index" ? "Overview" : (titles.get(page) ?? page),
      link: page === "index" || page.endsWith("/index") ? `/${page.slice(0, -"index".length)}` : `/${page}.html`
    }))
  }))
}
