/**
 * The end of a layer, seen by everything that still waits for something of it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { ClientClosed } from "../../ClientError.js"

/** @since 0.1.0 @category models */
export class Closing {
  private readonly listeners = new Set<() => void>()
  private closed = false

  get isClosed(): boolean {
    return this.closed
  }

  /** Calls the listener once, when the layer is released. Returns how to remove it. */
  onClose(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => {
      this.listeners.delete(listener)
    }
  }

  close(): void {
    this.closed = true
    const listeners = [...this.listeners]
    this.listeners.clear()
    for (const listener of listeners) {
      listener()
    }
  }

  /** Ends with the failure when the layer is released. */
  readonly failed: Effect.Effect<never, ClientClosed> = Effect.async((resume) => {
    const fail = () => resume(Effect.fail(closed()))
    if (this.closed) {
      return fail()
    }
    const remove = this.onClose(fail)
    return Effect.sync(remove)
  })
}

/** The failure of a call that was not sent, because its layer had been released. @since 0.1.0 @category constructors */
export const closed = (): ClientClosed =>
  new ClientClosed({
    message: "the client is closed and sends no further request; make calls while the scope of its layer is open"
  })

/** Closes with the scope. @since 0.1.0 @category constructors */
export const make: Effect.Effect<Closing, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => new Closing()),
  (closing) => Effect.sync(() => closing.close())
)
