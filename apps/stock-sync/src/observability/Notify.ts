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
import { CurrentLedger } from "../ledger/CurrentLedger.ts"
import type { Ledger, NeedingEntry } from "../ledger/Ledger.ts"
import { type Commands, LedgerCommands } from "../ledger/LedgerCommands.ts"
import { disconnect } from "../sync/Disconnect.ts"
import { type State, SyncStatus } from "../sync/SyncStatus.ts"
import * as Conditions from "./Conditions.ts"
import * as Headline from "./Headline.ts"
import * as Messenger from "./Messenger.ts"
import { delays, type Kind, type Problem } from "./Notices.ts"
import * as NoticeText from "./NoticeText.ts"
import { counted } from "./StatusText.ts"

export interface Options {
  /** How often the source is read. */
  readonly poll: Duration.Duration | undefined
  readonly commands: Commands
}

/** Products that a message names, and the most that are counted. */
const mostNamed = 5
export const mostCounted = 1_000

/** Products that wait for a person, the first of them. */
export type Needing = ReadonlyArray<NeedingEntry>

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

/** What needs a person now. `needing`: the products that do, as far as the ledger was read. Pure. */
export const problemsOf = (state: State, needing: Needing, now: DateTime.Utc, options: Options): ReadonlyArray<Problem> => {
  if (state.stopping) return []
  const subject = state.owner?.id ?? (state.ledger._tag === "Open" ? state.ledger.path : undefined)
  const kind = accountKinds[state.account._tag]
  const all = [
    ...state.ledger._tag === "Failing" ? [described("ledger", Conditions.ledger(state.ledger), options)] : [],
    ...kind === undefined ? [] : [described(kind, Conditions.account(state.account), options)],
    ...ofSource(state, now, options),
    ...ofProducts(needing, options)
  ]
  // Whoever has several stores in one chat has to know which one it is, also if the service has not said so.
  return subject === undefined ? all : all.map((each) => ({ ...each, account: subject }))
}

/** Reads the ledger only after requests that may have changed what needs a person. */
const needingOf = Effect.gen(function*() {
  const current = yield* CurrentLedger
  let known: Needing = []
  let seen = ""
  const read = (ledger: Ledger["Service"]) => Stream.runCollect(Stream.take(ledger.needing, mostCounted))
  return (state: State): Effect.Effect<Needing> =>
    Effect.gen(function*() {
      const { confirmed, quarantined, uncertain } = state.sends
      const signature = [
        quarantined.count,
        uncertain.count,
        ...known.length === 0 ? [] : [confirmed.count, state.source.takenAt?.epochMilliseconds]
      ]
        .join()
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

const make = (settings: Messenger.NotifySettings, poll: Options["poll"]) =>
  Effect.gen(function*() {
    const options: Options = { poll, commands: yield* LedgerCommands }
    const status = yield* SyncStatus
    const needing = yield* needingOf
    yield* Messenger.run(settings, options.commands.status, Effect.gen(function*() {
      const state = yield* status.state
      return problemsOf(state, yield* needing(state), yield* DateTime.now, options)
    }))
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
