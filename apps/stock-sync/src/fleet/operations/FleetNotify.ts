/**
 * Tells a person about a fleet by messages to a chat. One runner does it for the whole fleet, so that an outage of the service is one message and
 * not one of each account or runner: the one that runs the longest. It asks the database once a minute.
 */
import * as NodeClient from "@plaza/client/node"
import type * as Config from "effect/Config"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as LedgerCommands from "../../ledger/LedgerCommands.ts"
import * as Messenger from "../../observability/Messenger.ts"
import { delays, type Kind, type Problem } from "../../observability/Notices.ts"
import * as NoticeText from "../../observability/NoticeText.ts"
import { counted, duration } from "../../observability/StatusText.ts"
import { disconnect } from "../../sync/Disconnect.ts"
import * as MonotonicClock from "../../sync/MonotonicClock.ts"
import type { FleetDatabase } from "../FleetDatabase.ts"
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

/** The problems of an account. Pure. */
export const problemsOf = ({ held, id, problem, products }: FleetStatus.NeedyAccount): ReadonlyArray<Problem> => {
  const commands = LedgerCommands.ofFleet(id)
  const of = (kind: Kind, name: string, help: string): Problem => ({
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
    ]
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

const make = (settings: Messenger.NotifySettings) =>
  Effect.gen(function*() {
    const { state } = yield* FleetRunner
    const logged = RepeatedFailure.logged("notify.unread")
    let isSpeaker = false
    let known: ReadonlyArray<Problem> = []
    let readAt = Number.NEGATIVE_INFINITY

    const read = Effect.gen(function*() {
      const { runner } = yield* state
      isSpeaker = speakerOf(yield* FleetStatus.runners) === runner
      known = isSpeaker ? (yield* FleetStatus.needyAccounts).flatMap(problemsOf) : []
    }).pipe(
      // A statement that hangs is abandoned.
      disconnect,
      Effect.timeout(maxWait),
      // What was known stays.
      logged
    )

    yield* Messenger.run(settings, lists, Effect.gen(function*() {
      const now = yield* MonotonicClock.now
      if (now - readAt >= readsEvery) {
        readAt = now
        yield* read
      }
      const { stopping, ...runner } = yield* state
      return stopping || !isSpeaker ? undefined : [...ofDatabase(runner, yield* MonotonicClock.now), ...known]
    }))
  })

/** Until the scope closes. */
export const layer = (settings: Messenger.NotifySettings): Layer.Layer<never, never, FleetDatabase | FleetRunner | HttpClient.HttpClient> =>
  Layer.effectDiscard(make(settings))

/** `layer` with an HTTP client of its own, which uses the proxy variables. */
export const layerConfig = (settings: Messenger.NotifySettings): Layer.Layer<never, Config.ConfigError, FleetDatabase | FleetRunner> =>
  Layer.provide(layer(settings), NodeClient.layerConfig)
