/** The order and the names of the pages in the navigation. A page that has no place here stands at the end of the reference. */
import type { Reference } from "./ApiReference.ts"

/** A page by its path in the site, without `.md`, and its name where its title does not tell it from the others. */
type Entry = string | readonly [page: string, label: string]

const groups: ReadonlyArray<readonly [title: string, entries: ReadonlyArray<Entry>]> = [
  ["Start", [["overview", "Overview"], "getting-started", "questions", "guides/platforms", "examples"]],
  ["Guides", [
    "guides/post-with-media",
    "guides/ship-orders",
    "guides/keep-stock-right",
    ["guides/excel-and-text-files", "Excel and text files"],
    ["guides/feeds-from-services", "Sheets, Dropbox, WooCommerce"],
    ["guides/stock-from-apis", "HTTP APIs, pages, GraphQL"],
    ["guides/stock-from-servers", "SFTP, S3, databases"],
    ["guides/buffers-and-kits", "Buffers, rules, kits"],
    "guides/what-is-sent-again",
    "guides/chat-rules",
    "guides/handle-errors",
    "guides/test-your-application",
    ["sandbox-in-tests", "Python, Go, Java and CI"],
    ["guides/express-hono-next", "Express, Hono, Next, scripts"],
    ["guides/effect-3", "Effect 3"],
    ["guides/share-a-key", "Share a key"],
    ["guides/rotate-a-key", "Rotate a key"],
    ["deploy", "systemd, Docker, Kubernetes"],
    ["guides/windows", "Windows"],
    ["guides/run-a-fleet", "Many stores"]
  ]],
  ["Concepts", ["concepts/delivery", "concepts/rate-limit", "concepts/latitude", "concepts/ledger", "concepts/drift"]],
  ["Libraries", [["sdk", "SDK on Promises"], ["client", "Client on Effect"], ["domain", "Types and errors"]]],
  ["The command", [["cli", "Use of plaza"], ["reference/plaza", "Options of plaza"], ["mcp", "MCP server"]]],
  ["The worker", [
    ["stock-sync", "Use of plaza-stock-sync"],
    ["reference/plaza-stock-sync", "Options of plaza-stock-sync"],
    ["stock-sync-watching", "Status, metrics, alerts"],
    ["feeds", "Formats of exports"],
    ["fleet", "Fleet operations"]
  ]],
  ["The sandbox", [
    ["sandbox", "Start and faults"],
    ["reference/control-api", "Control API"],
    ["reference/service-variant", "Fields of a service variant"],
    ["sandbox-rules", "Rules of the interface"],
    ["reference/assumptions", "Assumptions"]
  ]],
  ["Reference", [["reference/index", "Index"]]],
  ["Project", [
    "decisions/index",
    ["figures", "Figures"],
    ["benchmarks", "How figures are measured"],
    "glossary",
    "development",
    "contributing"
  ]]
]

/** A group as VitePress's sidebar has it. */
export interface Group {
  readonly text: string
  readonly collapsed?: boolean
  readonly items: ReadonlyArray<{ readonly text: string; readonly link: string }>
}

const linkOf = (page: string) => page.endsWith("/index") ? `/${page.slice(0, -"index".length)}` : `/${page}.html`

/** The file of a link of the navigation, below the folder of the pages. */
export const fileOf = (link: string): string => `${link.slice(1).replace(/(^|\/)$/, "$1index").replace(/\.html$/, "")}.md`

/** What the name of a group of the API begins with. */
export const api = "API of "

/** The groups with the titles of existing pages. The landing page has no place, and an index lists the records of decisions. */
export const groupsOf = (titles: ReadonlyMap<string, string>, references: ReadonlyArray<Reference>): ReadonlyArray<Group> => {
  const entries = groups.flatMap(([, list]) => list).map((entry) => typeof entry === "string" ? entry : entry[0])
  const missing = entries.filter((page) => !titles.has(page))
  if (missing.length > 0) throw new Error(`the navigation names pages that do not exist: ${missing.join(", ")}`)
  const listed = new Set([...entries, "index", ...references.flatMap(({ pages }) => pages.map(({ page }) => page))])
  const others = [...titles.keys()].filter((page) => !listed.has(page) && !page.startsWith("decisions/")).sort()
  return groups.flatMap(([text, list]): ReadonlyArray<Group> => {
    const group = {
      text,
      items: [...list, ...(text === "Reference" ? others : [])].map((entry) => {
        const [page, label] = typeof entry === "string" ? [entry, titles.get(entry) ?? entry] : entry
        return { text: label, link: linkOf(page) }
      })
    }
    return text !== "Reference" ? [group] : [
      group,
      ...references.map(({ name, pages }) => ({
        text: `${api}${name}`,
        collapsed: true,
        items: pages.map(({ label, page }) => ({ text: label, link: linkOf(page) }))
      }))
    ]
  })
}
