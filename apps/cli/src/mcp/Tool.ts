/** A tool of `plaza mcp`. */
import type { Plaza } from "@plaza/client"
import type { InvalidInput } from "@plaza/client/ClientError"
import type { DeliveryClass } from "@plaza/domain/Operations"
import * as Effect from "effect/Effect"
import type * as JsonSchema from "../schema/JsonSchema.ts"

/** The services that tools call. */
export type Services = Plaza.Services

/** An object of JSON. */
export type Json = Readonly<Record<string, unknown>>

export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly delivery: DeliveryClass
  /** Whether a call replaces or ends something, instead of adding to it. */
  readonly isDestructive: boolean
  /** Whether a call reaches the service, and not only the sandbox. */
  readonly isOfService: boolean
  /** Whether the contract has a reason for a 404. Otherwise only the address can be unknown. */
  readonly mayBeMissing: boolean
  /** The schemas, which only a list of tools requires. */
  readonly schemas: () => { readonly input: JsonSchema.JsonSchema; readonly output: JsonSchema.JsonSchema }
  /** Validates the arguments. Fails with `InvalidInput`. The result makes the call, and returns its result as JSON. */
  readonly prepare: (args: Json) => Effect.Effect<Effect.Effect<Json, unknown, Services>, InvalidInput>
}

/**
 * The levels of nesting of a value that is shown, as in the details of errors. `JSON.stringify` and the messages of Schema are recursive, and
 * overflow the stack at some thousand levels.
 */
export const maxShownDepth = 100

/** Fails for an invalid argument. Loads the class with the first failure: its module has every error of the service. */
export const fail = (field: string, message: string): Effect.Effect<never, InvalidInput> =>
  Effect.flatMap(
    Effect.promise(() => import("@plaza/client/ClientError")),
    ({ InvalidInput }) => Effect.fail(new InvalidInput({ field, message }))
  )

/** The arguments without nulls, which models write for optional arguments that they omit. Fails for a name that is no argument. */
export const withoutNulls = (args: Json, names: ReadonlyArray<string>): Effect.Effect<Json, InvalidInput> => {
  const unknown = Object.keys(args).find((name) => !names.includes(name))
  return unknown === undefined
    ? Effect.succeed(Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null)))
    : fail(unknown, `${unknown} is not an argument: ${names.length === 0 ? "there are none" : `use ${names.join(", ")}`}`)
}
