/** Today's ledger, which is on Effect 3, as a `Ledger` of Effect 4: the reference that the tests of ledgers are checked against. */
import { SourceError } from "@plaza/tabular/SourceError"
import { Clock, type Context, DateTime, Duration, Effect, type Exit, Layer, Option, Stream } from "effect"
import { Ledger, type LedgerOptions } from "../../../src/ledger/Ledger.ts"
import { LedgerFault, LedgerInUse, NotHeld, OtherAccount, SnapshotHeld } from "../../../src/ledger/LedgerError.ts"
import type { HeldSnapshot, SnapshotInput, SnapshotPolicy, SnapshotPreview, SnapshotResult } from "../../../src/ledger/Snapshot.ts"
import type { Access, Kind, WhiteBox } from "./kind.ts"
import { freshFile, inDatabase } from "./places.ts"
import {
  crossing,
  type Interruptible,
  type Outcome,
  type PlainAccess,
  type PlainClock,
  type PlainError,
  type PlainLedger,
  type PlainLedgers
} from "./plain.ts"

const { fromPlain, toPlain } = crossing({
  isOption: Option.isOption,
  fromOption: Option.toArray,
  toOption: ([value]) => value === undefined ? Option.none() : Option.some(value),
  isDateTime: DateTime.isDateTime,
  fromDateTime: DateTime.toEpochMillis,
  toDateTime: (millis) => DateTime.makeUnsafe(millis),
  isDuration: Duration.isDuration,
  fromDuration: Duration.toMillis,
  toDuration: Duration.millis
})

// By its path, because a program that TypeScript checks has one version of Effect.
const modulePath = new URL("../../../../../legacy/stock-sync/test/support/plainLedger.ts", import.meta.url).pathname
const ledgers = Effect.promise(async (): Promise<PlainLedgers> => {
  // The type of its export.
  const module = (await import(modulePath)) as { readonly ledgers: PlainLedgers }
  return module.ledgers
})

const interruptible = <A>(run: Interruptible<A>): Effect.Effect<A> =>
  Effect.callback<A>((resume) => {
    const controller = new AbortController()
    const ended = run(controller.signal).then(
      (value) => resume(Effect.succeed(value)),
      (error: unknown) => resume(Effect.die(error))
    )
    return Effect.suspend(() => {
      controller.abort()
      return Effect.promise(() => ended)
    })
  })

type LedgerError = LedgerFault | LedgerInUse | NotHeld | OtherAccount | SnapshotHeld | SourceError

const errorOf = ({ _tag, fields, message }: PlainError): LedgerError => {
  const path = String(fields["path"])
  switch (_tag) {
    case "LedgerFault":
      return new LedgerFault({ path, message, ...(fields["isTakenOver"] === true ? { isTakenOver: true } : {}) })
    case "LedgerInUse":
      return new LedgerInUse({ path, message })
    case "NotHeld":
      return new NotHeld({ message })
    case "OtherAccount":
      return new OtherAccount({ path, message })
    case "SnapshotHeld":
      // The field of the same name on the other side.
      return new SnapshotHeld({ held: fromPlain(fields["held"]) as HeldSnapshot, message })
    case "SourceError": {
      const line = fields["line"]
      return new SourceError({ source: String(fields["source"]), line: typeof line === "number" ? line : undefined, message })
    }
    default:
      throw new Error(`not a failure of a ledger: ${_tag}`)
  }
}

/** The value of an outcome; `E` is the failure of the rows. */
const outcomeOf = <A, Failure, E = never>(outcome: Outcome<unknown>): Effect.Effect<A, Failure | E> => {
  // The operation has the same name, result and failures on the other side.
  if (outcome._tag === "Success") return Effect.succeed(fromPlain(outcome.value) as A)
  // Rows fail with nothing but `E`.
  if (outcome.error._tag === "Foreign") return Effect.fail(outcome.error.foreign as E)
  return Effect.fail(errorOf(outcome.error) as Failure)
}

const serviceOf = (plain: PlainLedger): Ledger["Service"] => {
  const run = <A, Failure = LedgerFault>(operation: string, ...args: ReadonlyArray<unknown>): Effect.Effect<A, Failure> =>
    Effect.flatMap(
      Effect.suspend(() => interruptible(plain.run(operation, args.map(toPlain)))),
      (outcome) => outcomeOf<A, Failure>(outcome)
    )
  const stream = <A>(operation: string, ...args: ReadonlyArray<unknown>): Stream.Stream<A, LedgerFault> =>
    Stream.fromIterableEffect(run<ReadonlyArray<A>>(operation, ...args))
  const read = <A, Failure>(operation: "applySnapshot" | "previewSnapshot") =>
  <E, R>(
    { rows, ...input }: SnapshotInput<E, R>,
    policy: SnapshotPolicy
  ): Effect.Effect<A, E | Failure, R> =>
    Effect.contextWith((context: Context.Context<R>) =>
      Effect.flatMap(
        interruptible(
          plain.readSnapshot(operation, toPlain(input), toPlain(policy), Stream.toAsyncIterableWith(Stream.chunks(rows), context))
        ),
        (outcome) => outcomeOf<A, Failure, E>(outcome)
      )
    )
  return {
    path: plain.path,
    account: run("account"),
    bind: (account) => run("bind", account),
    adopt: (account) => run("adopt", account),
    check: run("check"),
    lost: run("lost"),
    applySnapshot: read<SnapshotResult, LedgerFault | SnapshotHeld | SourceError>("applySnapshot"),
    previewSnapshot: read<SnapshotPreview, LedgerFault | SourceError>("previewSnapshot"),
    snapshot: run("snapshot"),
    heldChanges: stream("heldChanges"),
    confirmHeld: (number) => run("confirmHeld", number),
    counts: run("counts"),
    unsettled: stream("unsettled"),
    queue: stream("queue"),
    quarantined: stream("quarantined"),
    uncertain: stream("uncertain"),
    rowIssues: stream("rowIssues"),
    all: stream("all"),
    backlog: run("backlog"),
    take: (selection) => run("take", selection._tag === "HalfOpen" ? { ...selection, except: [...selection.except] } : selection),
    confirm: (send) => run("confirm", send),
    fail: (send, failed) => run("fail", send, failed),
    retryNow: run("retryNow"),
    nextDue: (maxAttempts) => run("nextDue", maxAttempts),
    nextDelayed: run("nextDelayed"),
    release: (products) => run("release", products),
    clockChanged: (millis) => run("clockChanged", millis),
    observe: (observed, startedAt, resend) => run("observe", observed, startedAt, resend),
    countRequest: <A, E, R>(request: Effect.Effect<A, E, R>) =>
      Effect.contextWith((context: Context.Context<R>) => {
        let ended: Exit.Exit<A, E> | undefined
        const counted = plain.countRequest(async (signal) => {
          ended = await Effect.runPromiseExitWith(context)(request, { signal })
        })
        return Effect.flatMap(
          Effect.flatMap(interruptible(counted), (outcome) => outcomeOf<void, LedgerFault>(outcome)),
          () => ended ?? Effect.die(new Error("the request did not run"))
        )
      }),
    requests: run("requests"),
    history: (product) => stream("history", product)
  }
}

const accesses: Readonly<Record<Access, PlainAccess>> = {
  owner: "layer",
  beside: "layerWithoutLock",
  readOnly: "layerReadOnly",
  copy: "layerTemporaryCopy"
}

const clockOf = (clock: Clock.Clock): PlainClock => ({
  now: () => clock.currentTimeMillisUnsafe(),
  monotonicNanos: () => clock.monotonicTimeNanosUnsafe(),
  sleep: (millis) => async (signal) => {
    // Ends as interrupted if the signal aborts.
    await Effect.runPromiseExit(clock.sleep(Duration.millis(millis)), { signal })
  }
})

const layer = (place: string, access: Access, options: LedgerOptions): Layer.Layer<Ledger, LedgerFault | LedgerInUse> =>
  Layer.effect(
    Ledger,
    Effect.gen(function*() {
      const { open } = yield* ledgers
      const clock = clockOf(yield* Clock.Clock)
      const opened = yield* Effect.acquireRelease(
        interruptible(open(place, accesses[access], toPlain(options), clock, undefined)),
        (outcome) => outcome._tag === "Success" ? Effect.promise(outcome.value.close) : Effect.void
      )
      // Opening has no other failures.
      if (opened._tag === "Failure") return yield* Effect.fail(errorOf(opened.error) as LedgerFault | LedgerInUse)
      return serviceOf(opened.value)
    })
  )

// The time of a request in flight, which never comes. Each one in flight has its own.
const inFlight = 9_000_000_000_000_000

const whiteBox: WhiteBox = {
  forgetAccount: (place) => Effect.asVoid(inDatabase(place, (sql) => sql`DELETE FROM account`)),
  takeOver: (place) => Effect.asVoid(inDatabase(place, (sql) => sql`UPDATE lock_owner SET token = 'another'`)),
  prioritiesOf: (place, products) =>
    inDatabase(place, (sql) =>
      Effect.gen(function*() {
        for (const { confirmed = null, doubt, dueAt = null, id, listing, state, wanted } of products) {
          const part = listing === "missing" ? "left" : listing
          yield* sql`INSERT INTO product (id, wanted, confirmed, doubt_low, doubt_high, doubt_until, attempts, state, part, since, due_at, line, updated_at)
            VALUES (${id}, ${wanted}, ${confirmed}, ${doubt?.lowest ?? null}, ${doubt?.highest ?? null}, ${doubt === undefined ? null : 5},
              0, ${state}, ${part}, 0, ${dueAt}, 2, 0)`
        }
        const rows = yield* sql<{ id: string; priority: bigint | number | null }>`SELECT id, priority FROM product`
        return new Map(rows.map((row) => [row.id, row.priority === null ? null : Number(row.priority)]))
      })),
  storedRequests: (place) =>
    Effect.map(
      inDatabase(place, (sql) => sql<{ n: bigint | number }>`SELECT count(*) AS n FROM request`),
      ([row]) => Number(row?.n)
    ),
  killDuringLastRequest: (place) =>
    Effect.asVoid(
      inDatabase(place, (sql) => sql`UPDATE request SET at = ${inFlight + 1} WHERE at = (SELECT max(at) FROM request)`)
    )
}

export const legacyFile: Kind = { fresh: freshFile, layer, whiteBox }
