/**
 * A mutex for each key: effects with the same key run one after the other, first in, first out.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"

/** @since 0.1.0 @category models */
export type KeyedMutex = (key: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** One use of the mutex. */
interface Turn {
  /** Starts the effect, once it waits. */
  start: (() => void) | undefined
}

/** The first turn has the mutex, the others wait in the order of their arrival. */
type Turns = Set<Turn>

const first = ([turn]: Turns): Turn | undefined => turn

/**
 * Needs no scope. A call after the layer's release still passes and then fails with `ClientClosed`. `Effect.Semaphore` would wake all
 * waiting fibers for each use, so the time of a use would grow with their number.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (): KeyedMutex => {
  const keys = new Map<string, Turns>()

  const enter = (key: string): readonly [turn: Turn, turns: Turns] => {
    const turns = keys.get(key) ?? new Set<Turn>()
    const turn: Turn = { start: undefined }
    turns.add(turn)
    keys.set(key, turns)
    return [turn, turns]
  }

  const leave = (key: string, turn: Turn, turns: Turns): void => {
    const hadMutex = first(turns) === turn
    turns.delete(turn)
    if (turns.size === 0) {
      keys.delete(key)
    } else if (hadMutex) {
      first(turns)?.start?.()
    }
  }

  return (key) => (effect) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.suspend(() => {
        const [turn, turns] = enter(key)
        const acquired = Effect.async<void>((resume) => {
          if (first(turns) === turn) {
            resume(Effect.void)
          } else {
            turn.start = () => resume(Effect.void)
          }
        })
        // Around the wait too: whether a turn has the mutex doesn't depend on whether its fiber has resumed.
        return Effect.ensuring(restore(Effect.andThen(acquired, effect)), Effect.sync(() => leave(key, turn, turns)))
      })
    )
}
