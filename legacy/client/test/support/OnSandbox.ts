/** The client over the sandbox, in process with the test clock or over a socket in real time. */
import type { HttpClient } from "@effect/platform"
import { it } from "@effect/vitest"
import { Plaza } from "@plaza-legacy/client"
import { Sandbox, type SandboxError } from "@plaza-legacy/sandbox"
import { Effect, Layer, type Redacted } from "effect"
import * as NodeClient from "../../src/node.ts"
import { runtimes } from "./Runtimes.ts"

export type World = Plaza.Services | HttpClient.HttpClient | Sandbox.Sandbox

export interface WorldOptions {
  readonly sandbox?: Sandbox.Options
  readonly client?: Partial<Plaza.Options>
}

/** The client of whatever is at the address of the sandbox. */
export const plaza = (options: Partial<Plaza.Options> = {}) =>
  Layer.unwrapEffect(Effect.map(
    Sandbox.Sandbox,
    ({ apiKey, baseUrl }) => Layer.orDie(Plaza.layer({ baseUrl, apiKey, ...options }))
  ))

export const inProcess = ({ client, sandbox }: WorldOptions = {}): Layer.Layer<World, SandboxError> =>
  Layer.provideMerge(plaza(client), Sandbox.layerHttpClient(sandbox))

/** Over a socket (default: with the client on undici). */
export const onSocket = (
  { client, sandbox }: WorldOptions = {},
  http: Layer.Layer<HttpClient.HttpClient> = NodeClient.layer
): Layer.Layer<World, SandboxError> => Layer.provideMerge(plaza(client), Layer.merge(Sandbox.layerServer(sandbox), http))

/** A test over a socket for each HTTP client, in a world of its own. */
export const itOnSockets = <E>(name: string, test: Effect.Effect<unknown, E, World>, options: WorldOptions = {}): void => {
  for (const [client, http] of runtimes) {
    it.live(`${name}, over a socket by ${client}`, () => Effect.provide(test, onSocket(options, http)))
  }
}

/** Runs an effect with the services of another key. */
export const asKey = (apiKey: Redacted.Redacted, options: Partial<Plaza.Options> = {}) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.provide(effect, plaza({ apiKey, ...options }))
