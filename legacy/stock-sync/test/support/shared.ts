/** Resources that all tests of a file share. */
import { afterAll, beforeAll } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"

/** Builds a resource before the first test, and releases it after the last one. */
export const shared = <A, E>(resource: Effect.Effect<A, E, Scope.Scope>, use: (resource: A) => void): void => {
  const scope = Effect.runSync(Scope.make())
  beforeAll(async () => use(await Effect.runPromise(Scope.extend(resource, scope))))
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
}
