/**
 * What became of the write of a command, for the report of a failure that doesn't know it: an interruption, or a result that can't be
 * printed.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"

export interface Write {
  /** The operation, such as `createPost`; undefined for a change without a request. */
  readonly operation?: string
  readonly outcome: "notDone" | "unknown" | "done"
  /** The outcome of the attempts before the last one. */
  readonly earlier: "notDone" | "unknown"
}

class CurrentWrite extends Context.Reference<Ref.Ref<Write | undefined>>("@plaza/cli-kit/WriteOutcome", {
  defaultValue: () => Ref.makeUnsafe<Write | undefined>(undefined)
}) {}

/** Runs an effect with its own write. */
export const scoped = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideServiceEffect(effect, CurrentWrite, Ref.make<Write | undefined>(undefined))

/** The write of the command; undefined if it has none so far. */
export const current: Effect.Effect<Write | undefined> = Effect.flatMap(CurrentWrite, Ref.get)

const update = (change: (write: Write | undefined) => Write | undefined): Effect.Effect<void> =>
  Effect.flatMap(CurrentWrite, Ref.update(change))

/** Begins a write. Nothing is sent. */
export const begin = (operation: string): Effect.Effect<void> => update(() => ({ operation, outcome: "notDone", earlier: "notDone" }))

/** A request was sent. */
export const sent: Effect.Effect<void> = update((write) => write && { ...write, outcome: "unknown" })

/** The last request changed nothing. */
export const refused: Effect.Effect<void> = update((write) => write && { ...write, outcome: write.earlier })

/** The service may carry out the last request, whatever becomes of later ones. */
export const doubtful: Effect.Effect<void> = update((write) => write && { ...write, earlier: "unknown" })

/** The change is made. */
export const done: Effect.Effect<void> = update((write) => ({ ...write, outcome: "done", earlier: "notDone" }))
