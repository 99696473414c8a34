/** The ledger as plain values and Promises, for tests on Effect 4. */
import { NodeContext } from "@effect/platform-node"
import type { Row } from "@plaza-legacy/tabular/Stock"
import { Cause, Clock, Context, Data, DateTime, Duration, Effect, Exit, Layer, Option, Scope, Stream } from "effect"
import {
  crossing,
  type Interruptible,
  type Outcome,
  type PlainClock,
  type PlainError,
  type PlainLedger,
  type PlainLedgers
} from "../../../../apps/stock-sync/test/support/ledger/plain.ts"
import { Ledger, type LedgerOptions } from "../../src/ledger/Ledger.ts"
import { layer, layerReadOnly, layerTemporaryCopy, layerWithoutLock } from "../../src/ledger/Open.ts"
import { RowsAhead } from "../../src/ledger/RowsAhead.ts"
import type { SnapshotInput, SnapshotPolicy } from "../../src/ledger/Snapshot.ts"

const { fromPlain, toPlain } = crossing({
  isOption: Option.isOption,
  fromOption: Option.toArray,
  toOption: ([value]) => value === undefined ? Option.none() : Option.some(value),
  isDateTime: DateTime.isDateTime,
  fromDateTime: DateTime.toEpochMillis,
  toDateTime: DateTime.unsafeMake,
  isDuration: Duration.isDuration,
  fromDuration: Duration.toMillis,
  toDuration: Duration.millis
})

/** A failure of the rows. */
class Foreign extends Data.TaggedError("Foreign")<{ readonly error: unknown }> {}

const errorOf = (error: object): PlainError => {
  const fields = Object.fromEntries(Object.entries(error))
  // Every failure of a ledger has a tag and a message.
  const { _tag, message } = error as { readonly _tag: string; readonly message: string }
  return error instanceof Foreign
    ? { _tag, message, fields: {}, foreign: error.error }
    // An object becomes an object.
    : { _tag, message, fields: toPlain(fields) as Readonly<Record<string, unknown>> }
}

const clockOf = ({ monotonicNanos, now, sleep }: PlainClock): Clock.Clock => ({
  [Clock.ClockTypeId]: Clock.ClockTypeId,
  unsafeCurrentTimeMillis: now,
  currentTimeMillis: Effect.sync(now),
  unsafeCurrentTimeNanos: monotonicNanos,
  // The program takes these for monotonic ones.
  currentTimeNanos: Effect.sync(monotonicNanos),
  sleep: (duration) => interruptible(sleep(Duration.toMillis(duration)))
})

const interruptible = <A>(run: Interruptible<A>): Effect.Effect<A> =>
  Effect.async<A>((resume) => {
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

const runWith = (clock: PlainClock) => <A, E extends object>(effect: Effect.Effect<A, E>): Interruptible<Outcome<A>> => async (signal) => {
  const exit = await Effect.runPromiseExit(Effect.withClock(effect, clockOf(clock)), { signal })
  if (Exit.isSuccess(exit)) return { _tag: "Success", value: exit.value }
  const failure = Cause.failureOption(exit.cause)
  if (Option.isSome(failure)) return { _tag: "Failure", error: errorOf(failure.value) }
  throw Cause.squash(exit.cause)
}

const isOperation = (value: unknown): value is (...args: ReadonlyArray<unknown>) => unknown => typeof value === "function"

const isStream = (value: unknown): value is Stream.Stream<unknown, object> =>
  typeof value === "object" && value !== null && Stream.StreamTypeId in value

/** The result of an operation of a ledger. None needs a service. */
const resultOf = (value: unknown): Effect.Effect<unknown, object> =>
  isStream(value)
    ? Effect.map(Stream.runCollect(value), (chunk) => [...chunk])
    : Effect.isEffect(value)
    ? value as Effect.Effect<unknown, object>
    : Effect.dieMessage("not an operation of a ledger")

const plainLedger = (ledger: Ledger["Type"], scope: Scope.CloseableScope, clock: PlainClock): PlainLedger => {
  const run = runWith(clock)
  const members = new Map<string, unknown>(Object.entries(ledger))
  const plain = (effect: Effect.Effect<unknown, object>) => run(Effect.map(effect, toPlain))
  return {
    path: ledger.path,
    run: (operation, args) => {
      const member = members.get(operation)
      return plain(resultOf(isOperation(member) ? member(...args.map(fromPlain)) : member))
    },
    readSnapshot: (operation, input, policy, rows) => {
      const read = Stream.mapConcat(
        Stream.fromAsyncIterable(rows, (error) => new Foreign({ error })),
        // The rows of both versions are the same plain objects.
        (some) => some as ReadonlyArray<Row>
      )
      return plain(
        // The other side has passed these values through `toPlain`, and their types have the same fields.
        ledger[operation](
          { ...(fromPlain(input) as SnapshotInput<never, never>), rows: read },
          fromPlain(policy) as SnapshotPolicy
        )
      )
    },
    countRequest: (request) => run(ledger.countRequest(interruptible(request))),
    close: async () => {
      await run(Scope.close(scope, Exit.void))(new AbortController().signal)
    }
  }
}

const openers = { layer, layerReadOnly, layerTemporaryCopy, layerWithoutLock }

export const ledgers: PlainLedgers = {
  open: (place, access, options, clock, rowsAhead) =>
    runWith(clock)(Effect.gen(function*() {
      const scope = yield* Scope.make()
      // The other side has passed the options through `toPlain`.
      const opened = Layer.provide(openers[access](place, fromPlain(options) as LedgerOptions), NodeContext.layer)
      const context = yield* Effect.onError(Layer.buildWithScope(opened, scope), () => Scope.close(scope, Exit.void))
      const ledger = Context.get(context, Ledger)
      const staged = rowsAhead === undefined ? ledger : {
        ...ledger,
        applySnapshot: <E, R>(input: SnapshotInput<E, R>, policy: SnapshotPolicy) =>
          Effect.provideService(ledger.applySnapshot(input, policy), RowsAhead, rowsAhead)
      }
      return plainLedger(staged, scope, clock)
    }))
}
