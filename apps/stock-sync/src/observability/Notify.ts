/** Tells a person about a running worker when it can't go on without one, by messages to a chat. */
import * as NodeClient from "@plaza/client/node"
import type * as Config from "effect/Config"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import { hostname } from "node:os"
import { resolve } from "node:path"
import { CurrentLedger } from "../ledger/CurrentLedger.ts"
import type { Ledger, NeedingEntry } from "../ledger/Ledger.ts"
import { type Commands, LedgerCommands } from "../ledger/LedgerCommands.ts"
import type { LedgerFault } from "../ledger/LedgerError.ts"
import * as OpenLedger from "../ledger/Open.ts"
import type { RowIssue } from "../ledger/Snapshot.ts"
import type { Unit } from "../source/Source.ts"
import { disconnect } from "../sync/Disconnect.ts"
import { type State, SyncStatus } from "../sync/SyncStatus.ts"
import * as Conditions from "./Conditions.ts"
import * as Headline from "./Headline.ts"
import * as Messenger from "./Messenger.ts"
import { delays, type Kind, type Problem } from "./Notices.ts"
import * as NoticeText from "./NoticeText.ts"
import { counted } from "./StatusText.ts"

export interface Options {
  /** Where the worker runs. */
  readonly place: Place
  /** How often the source is read. */
  readonly poll: Duration.Duration | undefined
  readonly commands: Commands
}

interface Place {
  readonly host: string
  /** The working directory. */
  readonly folder: string
}

/** Names a worker whose account the service has not shown yet. Workers of several stores often have ledgers of the same file name. */
const nameOf = ({ ledger }: State, { folder, host }: Place): string => {
  if (ledger._tag !== "Open") return `${host}:${folder}`
  return OpenLedger.isPostgres(ledger.path) ? ledger.path : `${host}:${resolve(folder, ledger.path)}`
}

/** Products that a message names, and the most that are counted. */
const mostNamed = 5
export const mostCounted = 1_000

/** Products that wait for a person, the first of them. */
export type Needing = ReadonlyArray<NeedingEntry>

/** The first rejected rows of the last snapshot. */
export interface Rejected {
  readonly rows: ReadonlyArray<RowIssue>
  readonly unit: Unit
}

/** What the ledger says; undefined: it has not been read yet. */
export interface Known {
  readonly needing: Needing | undefined
  readonly rejected: Rejected | undefined
}

export const nothingKnown: Known = { needing: undefined, rejected: undefined }

const problem = (kind: Kind, name: string, text: string, more: Partial<Problem> = {}): Problem => ({
  key: kind,
  kind,
  account: undefined,
  name,
  text,
  delay: delays[kind],
  ...more
})

const described = (
  kind: Kind,
  { action, description, lead }: Pick<Conditions.Condition, "action" | "description" | "lead">,
  { commands }: Options,
  more: Partial<Problem> = {}
): Problem => {
  const name = NoticeText.safe(lead ?? "")
  const parts = [description, action].filter((text) => text.length > 0).map((text) => NoticeText.sentences(text, commands.status))
  return problem(kind, name, [`${name}.`, ...parts].join(" "), more)
}

const accountKinds = { Starting: "unavailable", Paused: "paused", Quota: "quota", Trouble: "unavailable", Running: undefined } as const

const ofSource = (state: State, now: DateTime.Utc, options: Options): ReadonlyArray<Problem> => {
  const { account, source, startedAt } = state
  const delay = Duration.max(delays.source, Duration.times(options.poll ?? Duration.zero, 3))
  if (source.held !== undefined && !source.held.confirmed) {
    return [described("held", Conditions.heldCondition(source.held, options.commands), options)]
  }
  const condition = Conditions.source(source, now, delay, options.commands)
  if (source.failing !== undefined) return [described("source", condition, options, { delay })]
  // Before the account is known, nothing is read.
  const since = source.readAt ?? (account._tag === "Running" ? startedAt : now)
  if (options.poll === undefined || Duration.isLessThanOrEqualTo(DateTime.distance(since, now), delay)) return []
  return [
    described("source", source.readAt === undefined ? { ...condition, lead: "The first read of the source has not ended" } : condition,
      options, {
      delay: Duration.zero
    })
  ]
}

const ofProducts = (needing: Needing, { commands }: Options): ReadonlyArray<Problem> => {
  if (needing.length === 0) return []
  const all = needing.length >= mostCounted ? `${counted(mostCounted, "product")} or more` : counted(needing.length, "product")
  const name = `${all} ${needing.length === 1 ? "needs" : "need"} you`
  const named = needing.slice(0, mostNamed).map((entry) => {
    const { helps, subject, wrong } = Headline.ofEntry(entry, commands)
    return `• ${NoticeText.safe(subject)}: ${NoticeText.safe(wrong)}. ${NoticeText.sentences(helps, commands.status)}`
  })
  const more = needing.length > named.length ? [`\`${commands.status}\` lists all of them.`] : []
  return [problem("products", name, [`${name}:`, ...named, ...more].join("\n"), {
    products: new Set(needing.map(({ productId }) => productId))
  })]
}

/** Identifies rejected rows: by their products, and those without one by how many there are, because lines move. */
export const rejectedRows = (products: Iterable<string>, withoutId: number): ReadonlySet<string> =>
  new Set([...products, ...Array.from({ length: withoutId }, (_, index) => `#${index + 1}`)])

const ofRejected = ({ rows, unit }: Rejected, { commands }: Options): ReadonlyArray<Problem> => {
  if (rows.length === 0) return []
  const all = rows.length >= mostCounted ? `${counted(mostCounted, "row")} or more` : counted(rows.length, "row")
  const name = `${all} of the source ${rows.length === 1 ? "is" : "are"} rejected`
  const named = rows.slice(0, mostNamed).map((row) => {
    const { subject, wrong } = Headline.ofRow(row, { acceptedAt: undefined, unit })
    return `• ${NoticeText.safe(subject)}: ${NoticeText.safe(wrong)}`
  })
  const more = rows.length > named.length ? ` \`${commands.status}\` lists all of them.` : ""
  const ids = rows.flatMap(({ productId }) => productId === undefined ? [] : [productId])
  return [problem("rejected", name, [`${name}:`, ...named, `${Conditions.sourceRemedy}${more}`].join("\n"), {
    products: rejectedRows(ids, rows.length - ids.length)
  })]
}

/** Kinds of which it is not known yet whether there is a problem. Pure. */
export const unknownOf = ({ account, source }: State, { needing, rejected }: Known): ReadonlySet<Kind> =>
  new Set<Kind>([
    ...account._tag === "Starting" ? ["paused", "quota"] as const : [],
    ...source.readAt === undefined ? ["held"] as const : [],
    ...source.readAt === undefined && source.failing === undefined ? ["source"] as const : [],
    ...needing === undefined ? ["products"] as const : [],
    ...rejected === undefined ? ["rejected"] as const : []
  ])

/** What needs a person now. Pure. */
export const problemsOf = (
  state: State,
  { needing = [], rejected }: Known,
  now: DateTime.Utc,
  options: Options
): ReadonlyArray<Problem> => {
  const account = state.owner?.id ?? nameOf(state, options.place)
  const kind = accountKinds[state.account._tag]
  const all = [
    ...state.ledger._tag === "Failing" ? [described("ledger", Conditions.ledger(state.ledger), options)] : [],
    ...kind === undefined ? [] : [described(kind, Conditions.account(state.account), options)],
    ...ofSource(state, now, options),
    ...ofProducts(needing, options),
    ...rejected === undefined ? [] : ofRejected(rejected, options)
  ]
  // Whoever has several stores in one chat has to know which one it is, also if the service has not said so.
  return all.map((each) => ({ ...each, account }))
}

/** Reads again if the signature differs from that of the last reading. A ledger that can't be read leaves what was known. */
const reading = <A>(read: (ledger: Ledger["Service"]) => Effect.Effect<A, LedgerFault>) =>
  Effect.map(CurrentLedger, (current) => {
    let known: A | undefined
    let seen: string | undefined
    return (signatureOf: (known: A | undefined) => string): Effect.Effect<A | undefined> =>
      Effect.gen(function*() {
        const signature = signatureOf(known)
        const ledger = yield* Ref.get(current)
        if (signature === seen || Option.isNone(ledger)) return known
        known = yield* disconnect(read(ledger.value))
        seen = signature
        return known
      }).pipe(
        // The worker reports the fault when it uses the ledger next.
        Effect.orElseSucceed(() => known)
      )
  })

const first = <A>(stream: Stream.Stream<A, LedgerFault>) => Stream.runCollect(Stream.take(stream, mostCounted))

/** Reads the ledger only after requests and snapshots that may have changed what needs a person. */
const knownOf = Effect.gen(function*() {
  const needing = yield* reading((ledger) => first(ledger.needing))
  const rejected = yield* reading((ledger) =>
    Effect.zipWith(first(ledger.rejectedRows), ledger.snapshot, (rows, { unit }): Rejected => ({ rows, unit }))
  )
  return ({ sends: { confirmed, quarantined, uncertain }, source }: State): Effect.Effect<Known> => {
    const takenAt = String(source.takenAt?.epochMilliseconds)
    return Effect.all({
      needing: needing((known = []) =>
        [quarantined.count, uncertain.count, ...known.length === 0 ? [] : [confirmed.count, takenAt]].join()
      ),
      rejected: rejected(() => takenAt)
    })
  }
})

const make = (settings: Messenger.NotifySettings, poll: Options["poll"]) =>
  Effect.gen(function*() {
    const options: Options = { poll, commands: yield* LedgerCommands, place: { host: hostname(), folder: process.cwd() } }
    const status = yield* SyncStatus
    const current = yield* CurrentLedger
    const knownNow = yield* knownOf
    const find = Effect.gen(function*(): Effect.fn.Return<Messenger.Found> {
      const state = yield* status.state
      if (state.stopping) return { _tag: "Unknown" }
      const known = yield* knownNow(state)
      return {
        _tag: "Known",
        problems: problemsOf(state, known, yield* DateTime.now, options),
        unknown: unknownOf(state, known)
      }
    })
    const ledger = Effect.flatMap(Ref.get(current), Effect.fromOption)
    yield* Messenger.run(settings, options.commands.status, find, {
      read: Effect.flatMap(ledger, ({ notices }) => notices),
      write: (text) => Effect.flatMap(ledger, ({ setNotices }) => setNotices(text))
    })
  })

/** Until the scope closes. `poll`: how often the source is read. */
export const layer = (
  settings: Messenger.NotifySettings,
  poll: Options["poll"]
): Layer.Layer<never, never, CurrentLedger | HttpClient.HttpClient | SyncStatus> => Layer.effectDiscard(make(settings, poll))

/** `layer` with an HTTP client of its own, which uses the proxy variables. */
export const layerConfig = (
  settings: Messenger.NotifySettings,
  poll: Options["poll"]
): Layer.Layer<never, Config.ConfigError, CurrentLedger | SyncStatus> => Layer.provide(layer(settings, poll), NodeClient.layerConfig)
