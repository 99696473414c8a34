/** Starts the sandbox on a socket. The only module that loads the sandbox and its database. */
import { UsageError } from "@plaza/cli-kit/CliError"
import { Latitude, Sandbox, type SandboxError } from "@plaza/sandbox"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"

export interface Address {
  readonly baseUrl: string
  readonly controlUrl: string
  /** The URL of its pages. */
  readonly webUrl: string
  /** The seeded key. It is public, because it is derived from the seed. */
  readonly apiKey: string
}

/** Logs errors of the sandbox even if no log level is set. */
const withErrorLog = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(
    References.MinimumLogLevel,
    (level) => level === "None" ? Effect.provideService(effect, References.MinimumLogLevel, "Error") : effect
  )

interface Options extends Omit<Sandbox.ServerOptions, "latitude"> {
  /** A change of the latitude as plain data, and where it comes from. */
  readonly latitude?: { readonly origin: string; readonly value: unknown } | undefined
}

/** Serves until the scope closes. Fails with a usage error for an unusable port or file. */
export const serve = ({ latitude, ...settings }: Options): Effect.Effect<Address, UsageError, Scope.Scope> =>
  Effect.gen(function*() {
    const change = latitude === undefined ? {} : yield* Effect.fromResult(Result.mapError(
      Latitude.decode(latitude.value),
      (problem) => new UsageError({ message: `the service variant ${latitude.origin} is invalid: ${problem}` })
    ))
    const services = yield* Layer.build(Sandbox.layerServer({ ...settings, latitude: change }))
    const { apiKey, baseUrl, controlUrl, webUrl } = Context.get(services, Sandbox.Sandbox)
    return { baseUrl, controlUrl, webUrl, apiKey: Redacted.value(apiKey) }
  }).pipe(
    withErrorLog,
    Effect.mapError((error: SandboxError | UsageError) => new UsageError({ message: error.message }))
  )
