/** The search of the built site has the answer to a question among its first three results. The site must be built. */
import MiniSearch, { type SearchResult } from "minisearch"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { describe, expect, it } from "vitest"
import { root, site } from "../src/Paths.ts"
import * as Search from "../src/Search.ts"

const chunks = join(site, "assets/chunks")
const file = readdirSync(chunks).find((name) => name.startsWith("@localSearchIndex")) ?? "the search index of the built site"
// True: VitePress writes the index as a module with a text.
const { default: json } = await import(pathToFileURL(join(chunks, file)).href) as { readonly default: string }
// As the search box of VitePress does.
const index = MiniSearch.loadJSON<Search.Section>(json, {
  fields: ["title", "titles", "text"],
  storeFields: ["title", "titles"],
  searchOptions: Search.options.searchOptions,
  ...Search.options.options
})

const idsOf = (results: ReadonlyArray<SearchResult>) => results.slice(0, 3).map(({ id }) => String(id))
const search = (question: string) => idsOf(index.search(question))
const answers = (...anchors: ReadonlyArray<string>) => anchors.map((anchor) => `/questions.html#${anchor}`)

/** What a person types, and the sections that answer it. */
const questions: ReadonlyArray<readonly [question: string, answers: ReadonlyArray<string>]> = [
  ["how do I post an image", answers("how-do-i-post-an-image-a-photo-or-a-video")],
  ["upload a picture", answers("how-do-i-post-an-image-a-photo-or-a-video")],
  ["timeout", answers("how-do-i-set-a-timeout")],
  ["change the timeout of a request", answers("how-do-i-set-a-timeout")],
  ["requests per minute", answers("how-many-requests-per-minute-may-i-send")],
  ["what is the rate limit", [...answers("how-many-requests-per-minute-may-i-send"), "/concepts/rate-limit.html#rate-limit"]],
  ["three workers one key", answers("can-three-workers-or-processes-share-one-key")],
  ["several processes with the same key", answers("can-three-workers-or-processes-share-one-key")],
  ["rotate a key", answers("how-do-i-rotate-or-replace-a-key")],
  ["my api key was leaked", ["/guides/rotate-a-key.html#rotate-a-key", "/guides/rotate-a-key.html#what-can-go-wrong"]],
  ["Effect 3 or 4", answers("effect-3-or-effect-4")],
  ["does it work with effect 3", answers("effect-3-or-effect-4")],
  ["Windows service", answers("how-do-i-run-the-worker-as-a-windows-service")],
  ["is it published", answers("is-plaza-published-on-npm")],
  ["npm install plaza", answers("is-plaza-published-on-npm")],
  ["Express", answers("how-do-i-use-it-in-express-hono-next-or-a-script")],
  ["duplicate post", answers("how-do-i-avoid-a-duplicate-post")],
  ["why was my post created twice", answers("how-do-i-avoid-a-duplicate-post")],
  ["what is a cursor", answers("what-is-a-cursor-and-how-do-i-read-all-pages")],
  ["pagination", answers("what-is-a-cursor-and-how-do-i-read-all-pages")],
  ["429", answers("what-happens-after-a-429-too-many-requests")],
  ["too many requests", answers("what-happens-after-a-429-too-many-requests")],
  ["Python tests", answers("how-do-i-test-from-python-go-or-java")],
  ["Docker", [
    ...answers("how-do-i-run-the-worker-in-docker-kubernetes-or-systemd"),
    ...answers("how-do-i-run-the-sandbox-in-docker-github-actions-or-gitlab")
  ]],
  ["sold out", answers("what-if-a-product-is-sold-out")],
  ["stock wrong in the store", answers("the-stock-in-the-store-is-wrong-what-now")],
  ["undo a wrong import", answers("how-do-i-undo-a-wrong-import-of-stock")],
  ["restore the stock of yesterday", answers("how-do-i-undo-a-wrong-import-of-stock")],
  ["two warehouses", answers("how-do-i-add-up-warehouses-or-sell-bundles-and-sets")],
  ["bundle products", answers("how-do-i-add-up-warehouses-or-sell-bundles-and-sets")],
  ["graphql", ["/guides/stock-from-apis.html#graphql"]],
  ["webhook or Slack message", answers("how-do-i-get-a-slack-message-or-a-webhook")],
  ["Excel file", answers("how-do-i-sync-stock-from-an-excel-file-or-a-csv-export")],
  ["offline", answers("do-i-need-an-account-or-a-network-to-try-it")],
  ["without network", answers("do-i-need-an-account-or-a-network-to-try-it")],
  ["telemetry", answers("is-there-telemetry")],
  ["does it phone home", answers("is-there-telemetry")],
  ["minimum Node version", answers("what-is-the-minimum-version-of-node-and-typescript")],
  ["which version of node", answers("what-is-the-minimum-version-of-node-and-typescript")],
  ["CommonJS require", answers("can-i-use-commonjs-and-require")],
  ["mock time", answers("how-do-i-mock-time-or-the-clock")],
  ["fake clock in tests", answers("how-do-i-mock-time-or-the-clock")],
  ["delete a comment", answers("how-do-i-delete-or-edit-a-comment-or-a-post")],
  ["ship an order", answers("how-do-i-ship-an-order")],
  ["mark order as shipped with tracking number", answers("how-do-i-ship-an-order")],
  ["overselling", answers("how-do-i-prevent-overselling")],
  ["kubernetes", answers("how-do-i-run-the-worker-in-docker-kubernetes-or-systemd")],
  ["mac", answers("does-it-run-on-windows-and-macos")],
  ["google sheets", answers("how-do-i-sync-stock-from-google-sheets-woocommerce-or-shopify")],
  ["prometheus metrics", answers("how-do-i-monitor-it-with-prometheus-or-opentelemetry")],
  ["connect claude", answers("how-do-i-give-an-account-to-an-ai-agent")],
  ["proxy", answers("does-it-work-behind-a-proxy")],
  ["OutcomeUnknown", answers("what-does-outcomeunknown-mean")],
  ["handle errors", [...answers("how-do-i-handle-errors"), "/guides/handle-errors.html#handle-errors"]],
  ["idempotency", answers("are-requests-idempotent")],
  ["post a story", answers("how-do-i-create-a-story")],
  ["cancel a request", answers("how-do-i-cancel-or-abort-a-call")],
  ["license", answers("what-is-the-licence")],
  ["performance", answers("how-fast-is-it-and-how-much-memory-does-it-need")],
  ["cors", answers("does-it-run-on-bun-deno-cloudflare-workers-or-in-a-browser")],
  ["@types/ws", answers("do-i-need-typesws-or-typesnode")]
]

/** What a person mistypes, or has typed so far. */
const typed: ReadonlyArray<readonly [question: string, answers: ReadonlyArray<string>]> = [
  ["tiemout", answers("how-do-i-set-a-timeout")],
  ["telemtry", answers("is-there-telemetry")],
  ["rotat", answers("how-do-i-rotate-or-replace-a-key")],
  ["rotate teh key", answers("how-do-i-rotate-or-replace-a-key")],
  ["how do i post an imag", answers("how-do-i-post-an-image-a-photo-or-a-video")],
  ["post an imgae", answers("how-do-i-post-an-image-a-photo-or-a-video")],
  ["dupl", answers("how-do-i-avoid-a-duplicate-post")],
  ["duplciate post", answers("how-do-i-avoid-a-duplicate-post")],
  ["requests per min", answers("how-many-requests-per-minute-may-i-send")],
  ["windows serv", answers("how-do-i-run-the-worker-as-a-windows-service")],
  ["webhok", answers("how-do-i-get-a-slack-message-or-a-webhook")],
  ["expres", answers("how-do-i-use-it-in-express-hono-next-or-a-script")],
  ["commonj", answers("can-i-use-commonjs-and-require")],
  ["pyton tests", answers("how-do-i-test-from-python-go-or-java")],
  ["sold ou", answers("what-if-a-product-is-sold-out")],
  ["shippi", ["/guides/ship-orders.html#ship-orders"]],
  ["delet comment", answers("how-do-i-delete-or-edit-a-comment-or-a-post")],
  ["what is a curs", answers("what-is-a-cursor-and-how-do-i-read-all-pages")],
  ["kuberntes", answers("how-do-i-run-the-worker-in-docker-kubernetes-or-systemd")],
  ["exel file", answers("how-do-i-sync-stock-from-an-excel-file-or-a-csv-export")]
]

describe("the search", () => {
  it.each([...questions, ...typed])("answers %s", (question, wanted) => {
    const found = search(question)
    expect({ found, has: found.some((id) => wanted.includes(id)) }).toEqual({ found, has: true })
  })

  it("has each question of the page as the first result of its own words", () => {
    const headings = [...readFileSync(join(root, "docs/questions.md"), "utf8").matchAll(/^### (.+)$/gm)].map(([, text = ""]) =>
      text.replaceAll("`", "")
    )
    expect(headings.length).toBeGreaterThan(40)
    const first = headings.map((heading) => [heading, index.search(heading)[0]?.["title"] as unknown])
    expect(first.filter(([heading, title]) => heading !== title)).toEqual([])
  })

  it("finds names of the API and of options", () => {
    expect(search("layerWithoutRateLimit")).toContain("/api/client/Plaza.html#plazalayerwithoutratelimit")
    expect(search("setStock")).toContain("/api/client/Store.html#storesetstock")
    expect(search("--late-writes").join(" ")).toMatch(/ledger|stock-sync/)
  })

  it("finds something while only words are typed that say nothing", () => {
    expect(search("how do")).not.toEqual([])
  })
})
