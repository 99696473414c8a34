/**
 * Tells a person about a fleet by messages to a chat. One runner does it for the whole fleet, so that an outage of the service is one message and
 * not one of each account or runner: the one that runs the longest. It asks the database once a minute, and stores there what was announced.
 */
import * as NodeClient from "@plaza/client/node"
import type * as Config from "effect/Config"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as LedgerCommands from "../../ledger/LedgerCommands.ts"
import * as NoticeRecord from "../../ledger/NoticeRecord.ts"
import * as Messenger from "../../observability/Messenger.ts"
import { delays, type Kind, noKinds, type Problem } from "../../observability/Notices.ts"
import * as NoticeText from "../../observability/NoticeText.ts"
import { mostCounted, rejectedRows } from "../../observability/Notify.ts"
import { counted, duration } from "../../observability/StatusText.ts"
import { disconnect } from "../../sync/Disconnect.ts"
import * as MonotonicClock from "../../sync/MonotonicClock.ts"
import { FleetDatabase } from "../FleetDatabase.ts"
import type { FleetDatabaseError } from "../FleetError.ts"
import { FleetRunner, type RunnerState } from "../FleetRunner.ts"
import * as FleetStatus from "./FleetStatus.ts"
import * as RepeatedFailure from "./RepeatedFailure.ts"

const readsEvery = Duration.toMillis("1 minute")
const maxWait = Duration.seconds(30)

const lists = "plaza-stock-sync fleet status"

/** The live runner that runs the longest. */
export const speakerOf = (runners: ReadonlyArray<Pick<FleetStatus.Runner, "name" | "alive" | "startedAt">>): string | undefined =>
  runners.filter(({ alive }) => alive)
    .toSorted((one, other) =>
      DateTime.toEpochMillis(one.startedAt) - DateTime.toEpochMillis(other.startedAt) || (one.name < other.name ? -1 : 1)
    )
    .at(0)?.name

/** What the database says of the accounts. */
const kinds = ["account", "held", "products", "rejected"] as const
const allKinds: ReadonlySet<Kind> = new Set(kinds)

/** The problems of an account. Pure. */
export const problemsOf = (
  { held, id, problem, products, rejectedIds, rejectedRows: rows, rejectedWithoutId }: FleetStatus.NeedyAccount
): ReadonlyArray<Problem> => {
  const commands = LedgerCommands.ofFleet(id)
  const of = (kind: (typeof kinds)[number], name: string, help: string): Problem => ({
    key: `${kind} ${id}`,
    kind,
    account: id,
    name,
    text: `${name}. ${help}`,
    delay: delays[kind]
  })
  const command = (code: string) => NoticeText.sentences([{ code }], lists)
  return [
    ...problem === null ? [] : [of("account", NoticeText.safe(problem.replace(/\.$/, "")), `${command(commands.status)} shows more.`)],
    ...held === null ? [] : [
      of("held", `Snapshot ${held} of the source is held`,
        `If the source is wrong, correct it. If it is right, run ${command(commands.confirm(held))}; ${
          command(commands.status)
        } shows its changes.`)
    ],
    ...products === 0 ? [] : [
      of("products", `${counted(products, "product")} ${products === 1 ? "needs" : "need"} you`,
        `${command(commands.status)} shows what helps.`)
    ],
    ...rows === 0 ? [] : [{
      ...of("rejected", `${counted(rows, "row")} of the source ${rows === 1 ? "is" : "are"} rejected`,
        `${command(commands.status)} shows why.`),
      products: rejectedRows(rejectedIds, Math.min(mostCounted, rejectedWithoutId))
    }]
  ]
}

/** The database is needed for everything. Pure. */
export const ofDatabase = (
  { loop: { lastReachedAt } }: Pick<RunnerState, "loop">,
  now: MonotonicClock.MonotonicMillis
): ReadonlyArray<Problem> => {
  const silent = Duration.millis(now - lastReachedAt)
  if (Duration.isLessThan(silent, delays.ledger)) return []
  const name = "The database of the fleet is unavailable"
  const text = `${name} since ${duration(silent)}. Nothing is sent. Check the database and the network of the runners.`
  return [{ key: "database", kind: "ledger", account: undefined, name, text, delay: Duration.zero }]
}

/** What was announced for the whole fleet. */
export const store: Effect.Effect<Messenger.Store<FleetDatabaseError, never>, never, FleetDatabase> = Effect.map(FleetDatabase,
  ({ run, sql }) => {
    const target = { sql, account: NoticeRecord.fleet }
    return {
      read: run(NoticeRecord.read(target)),
      write: (text) => Effect.asVoid(run(sql`${NoticeRecord.write(target, text)(sql`1 = 1`)}`))
    }
  })

const make = (settings: Messenger.NotifySettings) =>
  Effect.gen(function*() {
    const { state } = yield* FleetRunner
    const logged = RepeatedFailure.logged("notify.unread")
    let isSpeaker = false
    /** Undefined after a read that failed: another runner may have taken over. */
    let known: ReadonlyArray<Problem> | undefined
    let readAt = Number.NEGATIVE_INFINITY

    const read = Effect.gen(function*() {
      known = undefined
      const { runner } = yield* state
      const speaks = speakerOf(yield* FleetStatus.runners) === runner
      known = speaks ? (yield* FleetStatus.needyAccounts).flatMap(problemsOf) : []
      isSpeaker = speaks
    }).pipe(
      // A statement that hangs is abandoned.
      disconnect,
      Effect.timeout(maxWait),
      logged
    )

    const find = Effect.gen(function*(): Effect.fn.Return<Messenger.Found, never, FleetDatabase> {
      const now = yield* MonotonicClock.now
      if (now - readAt >= readsEvery) {
        readAt = now
        yield* read
      }
      const { stopping, ...runner } = yield* state
      if (stopping) return { _tag: "Unknown" }
      if (!isSpeaker) return { _tag: "Elsewhere" }
      const problems = [...ofDatabase(runner, yield* MonotonicClock.now), ...known ?? []]
      return { _tag: "Known", problems, unknown: known === undefined ? allKinds : noKinds }
    })
    yield* Messenger.run(settings, lists, find, yield* store)
  })

/** Until the scope closes. */
export const layer = (settings: Messenger.NotifySettings): Layer.Layer<never, never, FleetDatabase | FleetRunner | HttpClient.HttpClient> =>
  Layer.effectDiscard(make(settings))

/** `layer` with an HTTP client of its own, which uses the proxy variables. */
export const layerConfig = (settings: Messenger.NotifySettings): Layer.Layer<never, Config.ConfigError, FleetDatabase | FleetRunner> =>
  Layer.provide(layer(settings), NodeClient.layerConfig)
