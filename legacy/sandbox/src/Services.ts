/**
 * Provides services that do not require each other in one step. A step for each of them takes 25 of Effect's operations: see
 * docs/decisions/023-sandbox-services.md.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/**
 * A service that is made by an effect.
 *
 * @since 0.1.0
 * @category constructors
 */
export const service = <Id, S, E, R>(tag: Context.Tag<Id, S>, make: Effect.Effect<S, E, R>): Effect.Effect<Context.Context<Id>, E, R> =>
  Effect.map(make, (made) => Context.make(tag, made))

type Made<Makes extends ReadonlyArray<unknown>> = Makes[number] extends infer Make
  ? Make extends Effect.Effect<Context.Context<infer Id>, infer _, infer _> ? Id : never
  : never

/**
 * Makes services in the order of the list, as one context.
 *
 * @since 0.1.0
 * @category combinators
 */
export const together = <Makes extends ReadonlyArray<Effect.Effect<Context.Context<never>, unknown, unknown>>>(
  ...makes: Makes
): Effect.Effect<Context.Context<Made<Makes>>, Effect.Effect.Error<Makes[number]>, Effect.Effect.Context<Makes[number]>> =>
  // The types of a list lose what each of its items makes and requires.
  Effect.map(Effect.forEach(makes, (make) => make), (contexts) => Context.mergeAll(...contexts)) as Effect.Effect<
    Context.Context<Made<Makes>>,
    Effect.Effect.Error<Makes[number]>,
    Effect.Effect.Context<Makes[number]>
  >

/**
 * Runs an effect with services.
 *
 * @since 0.1.0
 * @category combinators
 */
export const withServices =
  <Id, E0, R0>(services: Effect.Effect<Context.Context<Id>, E0, R0>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E0 | E, R0 | Exclude<R, Id>> =>
    Effect.flatMap(services, (context) => Effect.provide(effect, context))
