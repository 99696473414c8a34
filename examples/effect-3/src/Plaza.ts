/** The SDK as a service of Effect 3. */
import { createPlaza, type EnvironmentOptions, type Failure, isPlazaError, type Options, type Plaza as Client } from "@plaza/sdk"
import { Context, Effect, Layer, Stream } from "effect"

/** Everything but an error of the SDK is a defect, which Effect makes of what `catch` throws. */
const failureOf = (error: unknown): Failure => {
  if (isPlazaError(error)) return error
  throw error
}

/** Runs a call, and ends it by its signal if the fiber is interrupted. `E` has the errors of the operation. */
export const call = <A, E extends Failure = Failure>(start: (signal: AbortSignal) => Promise<A>): Effect.Effect<A, E> =>
  // True because `Failures` has every error that an operation rejects with.
  Effect.tryPromise({ try: start, catch: (error) => failureOf(error) as E })

/** Reads a list, and ends the request for a page if the stream is interrupted. `E` has the errors of the operation. */
export const list = <A, E extends Failure = Failure>(items: AsyncIterable<A>): Stream.Stream<A, E> =>
  // True as above.
  Stream.fromAsyncIterable(items, (error) => failureOf(error) as E)

/** The client, which its layer closes. */
export class Plaza extends Context.Tag("shop/Plaza")<Plaza, Client>() {
  static readonly layer = (options: Options) => layerOf(() => createPlaza(options))

  /** Reads PLAZA_BASE_URL and PLAZA_API_KEY. */
  static readonly layerEnv = (options?: EnvironmentOptions) => layerOf(() => createPlaza.fromEnv(options))
}

const layerOf = (create: () => Client): Layer.Layer<Plaza, Failure> =>
  Layer.scoped(
    Plaza,
    Effect.acquireRelease(call(() => Promise.resolve(create())), (client) => Effect.promise(() => client.close()))
  )
