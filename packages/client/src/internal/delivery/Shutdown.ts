/**
 * Notifies waiting fibers of the release of a layer.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { ClientClosed } from "../../ClientError.ts"

/** @since 0.1.0 @category models */
export class Shutdown {
  private readonly listeners = new Set<() => void>()
  private shutDown = false

  get isShutDown(): boolean {
    return this.shutDown
  }

  /** Calls the listener once, when the layer is released. Returns a function that removes it. */
  onShutdown(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => {
      this.listeners.delete(listener)
    }
  }

  shutDownNow(): void {
    this.shutDown = true
    const listeners = [...this.listeners]
    this.listeners.clear()
    for (const listener of listeners) {
      listener()
    }
  }

  /** Fails with `ClientClosed` when the layer is released. */
  readonly failed: Effect.Effect<never, ClientClosed> = Effect.callback((resume) => {
    const fail = () => resume(Effect.fail(clientClosed()))
    if (this.shutDown) {
      return fail()
    }
    const remove = this.onShutdown(fail)
    return Effect.sync(remove)
  })
}

/** The failure of a call that was not sent because its layer had been released. @since 0.1.0 @category constructors */
export const clientClosed = (): ClientClosed =>
  new ClientClosed({
    message: "the client is closed and sends no further request; make calls before you close it"
  })

/** Shuts down with the scope. @since 0.1.0 @category constructors */
export const make: Effect.Effect<Shutdown, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => new Shutdown()),
  (shutdown) => Effect.sync(() => shutdown.shutDownNow())
)
