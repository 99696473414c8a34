/**
 * The client over the sandbox, in process under the test's clock or over a socket in real time, so that a test can be
 * written once for both.
 */
import type { HttpClient } from "@effect/platform"
import { Plaza } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import { Sandbox, type SandboxError } from "@plaza/sandbox"
import { Effect, Layer, type Redacted } from "effect"

export type World = Plaza.Services | HttpClient.HttpClient | Sandbox.Sandbox

export interface WorldOptions {
  readonly sandbox?: Sandbox.Options
  readonly client?: Partial<Plaza.Options>
}

const plaza = (options: Partial<Plaza.Options> = {}) =>
  Layer.unwrapEffect(Effect.map(
    Sandbox.Sandbox,
    ({ apiKey, baseUrl }) => Layer.orDie(Plaza.layer({ baseUrl, apiKey, ...options }))
  ))

export const inProcess = ({ client, sandbox }: WorldOptions = {}): Layer.Layer<World, SandboxError> =>
  Layer.provideMerge(plaza(client), Sandbox.layerHttpClient(sandbox))

export const onSocket = ({ client, sandbox }: WorldOptions = {}): Layer.Layer<World, SandboxError> =>
  Layer.provideMerge(plaza(client), Layer.merge(Sandbox.layerServer(sandbox), NodeClient.layer))

/** Runs an effect with the services of another key. */
export const asKey =
  (apiKey: Redacted.Redacted, options: Partial<Plaza.Options> = {}) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.provide(effect, plaza({ apiKey, ...options }))
