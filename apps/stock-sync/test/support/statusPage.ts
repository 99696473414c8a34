/** Pages of a worker as a test describes it: its numbers, what waits for a person, and what is wrong. */
import { ProductId } from "@plaza/domain/Ids"
import { Duration, Option } from "effect"
import { mismatchTag } from "../../src/ledger/Entry.ts"
import type { NeedingEntry } from "../../src/ledger/Ledger.ts"
import { ofStore } from "../../src/ledger/LedgerCommands.ts"
import * as Status from "../../src/observability/Status.ts"
import * as StatusPage from "../../src/observability/StatusPage.ts"
import { initial, type State } from "../../src/sync/SyncStatus.ts"
import { utc } from "./utc.ts"

const minute = 60_000
/** The time of the page. */
export const now = utc(24 * 60 * minute)
/** So many minutes before the page. */
export const before = (minutes: number) => utc(now.epochMilliseconds - minutes * minute)

export const needing = (productId: string, further: Partial<NeedingEntry> = {}): NeedingEntry => ({
  productId: ProductId.make(productId),
  wanted: 3,
  confirmed: undefined,
  confirmedAt: undefined,
  sent: 3,
  doubt: undefined,
  attempts: 2,
  state: "quarantined",
  dueAt: utc(now.epochMilliseconds + 30 * minute),
  refusal: { tag: "NotFound", code: "NOT_FOUND", message: `there is no product "${productId}"`, value: 3 },
  line: 2,
  updatedAt: before(1),
  since: before(3),
  ...further
})

export const uncertain = (productId: string): NeedingEntry =>
  needing(productId, {
    state: "uncertain",
    dueAt: undefined,
    refusal: { tag: mismatchTag, code: undefined, message: "the service accepted 3 and responded with a stock of 1", value: 3 }
  })

interface Numbers {
  readonly settled?: number
  readonly pending?: number
  readonly needing?: ReadonlyArray<NeedingEntry>
  /** Rows of products that the ledger does not know, or, without an id, of none. */
  readonly rejected?: ReadonlyArray<string | undefined>
}

/** What the ledger contained a minute before the page. */
export const sample = ({ needing = [], pending = 0, rejected = [], settled = 0 }: Numbers): Status.LedgerSample => {
  const inState = (state: NeedingEntry["state"]) => needing.filter((each) => each.state === state)
  const rows = rejected.map((productId, index) => ({ line: 10 + index, productId, kind: "rejected", reason: "stock is empty" } as const))
  const never = { soldOut: undefined, falling: undefined, backInStock: undefined, doubtful: undefined }
  const counts = {
    settled,
    pending,
    sending: 0,
    doubtful: 0,
    uncertain: inState("uncertain").length,
    quarantined: inState("quarantined").length,
    missing: 0,
    rejectedRows: rows.length,
    negativeRows: 0,
    ruleIssues: 0
  }
  return {
    at: before(1),
    backlog: {
      waiting: { soldOut: 0, falling: 0, backInStock: 0, rest: pending, doubtful: 0 },
      longest: { ...never, rest: pending > 0 ? before(2) : undefined },
      sending: 0,
      oldest: pending > 0 ? Option.some({ productId: ProductId.make("WAITS"), since: before(2) }) : Option.none(),
      oldestConfirmation: Option.none()
    },
    counts,
    attention: {
      counts,
      waiting: pending,
      products: needing.length,
      rejected: { settled: 0, waiting: 0, needing: 0, unknown: rows.length }
    },
    needing: needing.slice(0, Status.maxNeeding),
    rejectedRows: rows.slice(0, Status.maxNeeding),
    acceptedAt: before(5),
    quarantined: inState("quarantined").slice(0, Status.maxListed),
    uncertain: inState("uncertain").slice(0, Status.maxListed),
    rowIssues: rows.slice(0, Status.maxListed),
    unit: "line",
    heldChanges: []
  }
}

/** A worker that runs, with an open ledger and a source that was read half a minute ago. */
export const running: State = {
  ...initial(before(120)),
  owner: { baseUrl: "https://shop.example/open/v1", id: "acc_1", keyFingerprint: "0123456789abcdef" },
  account: { _tag: "Running", since: before(120) },
  ledger: { _tag: "Open", since: before(120), path: "shop.sqlite" },
  source: { readAt: before(0.5), takenAt: before(5), rows: 100, failing: undefined, held: undefined }
}

/** The page of a worker in this state. */
export const page = (state: State, ledger: Status.LedgerSample | undefined): string =>
  StatusPage.render(Status.derive(state, { ledger, history: [] }, now, {
    rateLimit: 120,
    rateWindow: Duration.minutes(1),
    sourceStaleAfter: Duration.minutes(5),
    commands: ofStore(["run", "--ledger", "shop.sqlite"])
  }))

/** The text of HTML. Elements within a line add no space. */
export const textOf = (html: string): string =>
  html.replace(/<\/?(?:a|bdi|code|span|strong|time)\b[^>]*>/g, "").replace(/<[^>]*>/g, " ").replace(/\s+/g, " ")
    .replaceAll("&#39;", "'").replaceAll("&quot;", "\"").trim()

/** The first heading below the name of the program. */
export const headlineOf = (html: string): string => textOf(/<h2 class="headline"[^>]*>(.*?)<\/h2>/.exec(html)?.[1] ?? "")

/** The numbers below the headline, where something else leads. */
export const numbersOf = (html: string): string | undefined => {
  const found = /<p class="numbers">(.*?)<\/p>/.exec(html)?.[1]
  return found === undefined ? undefined : textOf(found)
}

/** The cells of the rows of a table. */
export const rowsOf = (html: string, id: string): ReadonlyArray<ReadonlyArray<string>> => {
  const body = new RegExp(`<tbody id="${id}"[^>]*>(.*?)</tbody>`, "s").exec(html)?.[1] ?? ""
  return Array.from(body.matchAll(/<tr>(.*?)<\/tr>/gs),
    ([, row = ""]) => Array.from(row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs), ([, cell = ""]) => textOf(cell)))
}

/** Whether a section is on the page for its readers. */
export const isShown = (html: string, id: string): boolean => !new RegExp(`<[a-z]+ id="${id}"[^>]* hidden>`).test(html)
