/**
 * The sandbox on a socket: the one module that loads it, and with it the database.
 *
 * @since 0.1.0
 */
import { Sandbox } from "@plaza/sandbox"
import type { SandboxError } from "@plaza/sandbox/SandboxError"
import { UsageError } from "@plaza/terminal/Problem"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"

/** @since 0.1.0 @category models */
export interface Address {
  readonly baseUrl: string
  readonly controlUrl: string
  /** Where its pages are. */
  readonly webUrl: string
  /** A key of the sandbox, which is no secret: it follows from the seed, and opens nothing else. */
  readonly apiKey: string
}

/**
 * Serves until the scope closes. What keeps it from starting is a port or a file, which is for the user to change.
 *
 * @since 0.1.0
 * @category running
 */
export const serve = (settings: {
  readonly port: number
  readonly data?: string
  /** The path of a file. */
  readonly fixtures?: string
  readonly seed?: number
  /** Nothing beside the interface's document is answered. */
  readonly assumptions?: false
}): Effect.Effect<Address, UsageError, Scope.Scope> =>
  Layer.build(Sandbox.layerServer(settings)).pipe(
    Effect.mapError((error: SandboxError) => new UsageError({ message: error.message })),
    Effect.map((services) => {
      const { apiKey, baseUrl, controlUrl, webUrl } = Context.get(services, Sandbox.Sandbox)
      return { baseUrl, controlUrl, webUrl, apiKey: Redacted.value(apiKey) }
    })
  )
