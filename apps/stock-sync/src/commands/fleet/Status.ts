/** `fleet status`: prints the state of a fleet, or of one of its accounts, from its database. Works beside running runners. */
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as FleetDatabase from "../../fleet/FleetDatabase.ts"
import { accountNotFound } from "../../fleet/FleetError.ts"
import * as FleetLedger from "../../fleet/FleetLedger.ts"
import * as FleetMigrations from "../../fleet/FleetMigrations.ts"
import * as AccountReport from "../../fleet/operations/AccountReport.ts"
import * as FleetStatus from "../../fleet/operations/FleetStatus.ts"
import * as SourceReference from "../../fleet/SourceReference.ts"
import { Ledger } from "../../ledger/Ledger.ts"
import * as LedgerCommands from "../../ledger/LedgerCommands.ts"
import * as Format from "../Format.ts"
import * as Status from "../Status.ts"

const backlogJson = ({ account, products, since, soldOut }: FleetStatus.AccountBacklog) => ({
  account,
  products,
  soldOut,
  since: Format.isoTime(since)
})

const fleetJson = ({ accounts, backlog, held, paused, problems, products, runners, sharedKeys }: FleetStatus.Overview) => ({
  runners: runners.map((runner) => ({
    name: runner.name,
    alive: runner.alive,
    ready: runner.alive && runner.reasons.length === 0,
    reasons: runner.reasons,
    version: runner.version,
    startedAt: Format.isoTime(runner.startedAt),
    lastSeen: Format.isoTime(runner.lastSeen),
    shards: runner.shards,
    accounts: runner.accounts,
    active: runner.active,
    reading: runner.reading,
    waitingToRead: runner.waitingToRead,
    failing: runner.failing
  })),
  accounts,
  products: { waiting: backlog.waiting, ...products },
  oldestSoldOut: Option.getOrNull(
    Option.map(backlog.oldestSoldOut, ({ since, ...product }) => ({ ...product, since: Format.isoTime(since) }))
  ),
  accountsWithBacklog: backlog.accounts,
  longestBacklogs: backlog.worst.map(backlogJson),
  problems: problems.map(({ account, problem, since }) => ({ account, problem, since: Format.isoTime(since ?? undefined) })),
  heldSnapshots: held.map(({ account, since, snapshot }) => ({ account, snapshot, since: Format.isoTime(since) })),
  sharedKeys,
  paused
})

const soldOutText = ({ oldestSoldOut }: FleetStatus.FleetBacklog): string | null =>
  Option.getOrNull(
    Option.map(oldestSoldOut, ({ account, productId, since }) => `${productId} of account ${account}, since ${Format.shortTime(since)}`)
  )

/** The title of a list that may be a part of all. */
const titleOf = (title: string, shown: number, all: number): string => shown < all ? `${title} (${shown} of ${all})` : title

const writeFleet = Effect.fnUntraced(
  function*({ accounts, backlog, held, paused, problems, products, runners, sharedKeys }: FleetStatus.Overview) {
    const output = yield* Output
    const alive = runners.filter(({ alive }) => alive).length
    yield* output.one({}, [
      ["accounts", accounts.total],
      ["running", accounts.running],
      ["paused", accounts.paused],
      ["pending", accounts.pending],
      ["with a problem", accounts.failing],
      ["with a held snapshot", accounts.held],
      ["runners", alive],
      ["products waiting", Object.values(backlog.waiting).reduce((sum, each) => sum + each, 0)],
      ["sold out, waiting", backlog.waiting.soldOut],
      ["waits longest", soldOutText(backlog)],
      ["sending", products.sending],
      ["doubtful", products.doubtful],
      ["uncertain", products.uncertain],
      ["quarantined", products.quarantined]
    ])
    yield* Format.titled(
      "Runners",
      [
        { head: "runner", whole: true },
        { head: "state" },
        { head: "shards", align: "right" },
        { head: "accounts", align: "right" },
        { head: "active", align: "right" },
        { head: "last seen" },
        { head: "problem", overflow: "wrap" }
      ],
      runners.map(({ accounts, active, alive, lastSeen, name, reasons, shards }) => [
        name,
        alive ? reasons.length === 0 ? "ready" : "not ready" : "lost",
        shards,
        accounts,
        active,
        Format.shortTime(lastSeen),
        alive ? reasons.map(({ message }) => message).join("; ") : ""
      ])
    )
    yield* Format.titled(
      titleOf("Longest backlogs", backlog.worst.length, backlog.accounts),
      [{ head: "account", whole: true }, { head: "waiting", align: "right" }, { head: "sold out", align: "right" }, { head: "since" }],
      backlog.worst.map(({ account, products, since, soldOut }) => [account, products, soldOut, Format.shortTime(since)])
    )
    yield* Format.titled(
      titleOf("Accounts with a problem", problems.length, accounts.failing),
      [{ head: "account", whole: true }, { head: "since" }, { head: "problem", overflow: "wrap" }],
      problems.map(({ account, problem, since }) => [account, Format.shortTime(since ?? undefined), problem])
    )
    yield* Format.titled(
      titleOf("Held snapshots", held.length, accounts.held),
      [{ head: "account", whole: true }, { head: "snapshot", align: "right" }, { head: "since" }],
      held.map(({ account, since, snapshot }) => [account, snapshot, Format.shortTime(since)])
    )
    yield* Format.titled(
      "Accounts with the same key: give each its own",
      [{ head: "accounts", overflow: "wrap" }],
      sharedKeys.map((ids) => [ids.join(", ")])
    )
    yield* Format.titled(
      titleOf("Paused accounts", paused.length, accounts.paused),
      [{ head: "account", whole: true }],
      paused.map((id) => [id])
    )
  }
)

const fleet = Effect.gen(function*() {
  const output = yield* Output
  const overview = yield* FleetStatus.overview
  yield* output.json ? output.value(fleetJson(overview)) : writeFleet(overview)
})

const accountJson = ({ baseUrl, epoch, id, problem, problemAt, runner, source, state }: FleetStatus.AccountRow) => ({
  id,
  state,
  runner,
  epoch,
  baseUrl,
  source: SourceReference.display(source),
  problem,
  problemSince: Format.isoTime(problemAt ?? undefined)
})

const accountEntries = ({ baseUrl, epoch, id, problem, problemAt, runner, source, state }: FleetStatus.AccountRow) =>
  [
    ["id", id],
    ["state", state],
    ["runner", runner],
    ["epoch", epoch],
    ["service", baseUrl],
    ["source", SourceReference.display(source)],
    ["problem", problem],
    ["problem since", Format.shortTime(problemAt ?? undefined)]
  ] as const

const account = Effect.fnUntraced(function*(id: string) {
  const output = yield* Output
  const row = yield* Effect.flatMap(
    FleetStatus.account(id),
    Option.match({ onNone: () => Effect.fail(accountNotFound(id)), onSome: Effect.succeed })
  )
  const found = yield* Effect.provideService(Status.report, Ledger, yield* AccountReport.ledger(id))
  if (output.json) return yield* output.value({ ...accountJson(row), status: Status.json(found) })
  yield* output.one({}, [...accountEntries(row), ...Status.summary(found)])
  yield* Effect.provideService(Status.tables(found), LedgerCommands.LedgerCommands, LedgerCommands.ofFleet(id))
})

/** Prints the state of the fleet, or of the account with this id. */
export const run = (id: Option.Option<string>) => Option.match(id, { onNone: () => fleet, onSome: account })

/** The ledgers of a prepared database. */
export const layer = Layer.provideMerge(
  FleetLedger.layer,
  Layer.tap(FleetDatabase.layerConfig, (context) => Effect.provide(FleetMigrations.check, context))
)
