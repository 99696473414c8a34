/** The flags that all commands share (`--json`, `--quiet`, `--base-url`, `--profile`), and their output. */
import * as Options from "@effect/cli/Options"
import { UsageError } from "@plaza/cli-kit/CliError"
import * as Output from "@plaza/cli-kit/Output"
import * as Progress from "@plaza/cli-kit/Progress"
import type { Streams } from "@plaza/cli-kit/Streams"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"

export interface Flags extends Output.Settings {
  /** Overrides the environment. */
  readonly baseUrl: Option.Option<string>
  /** Its key and address override the environment. */
  readonly profile: Option.Option<string>
}

export const output = {
  json: Options.boolean("json").pipe(
    Options.withDescription("Print JSON: one value, or one a line for lists. A failure is one JSON object on standard error.")
  ),
  quiet: Options.boolean("quiet").pipe(Options.withDescription("Print no progress and no notes."))
}

export const flags = {
  ...output,
  baseUrl: Options.text("base-url").pipe(
    Options.withPseudoName("URL"),
    Options.withDescription("The service's base address, instead of PLAZA_BASE_URL. It ends with /open/v1."),
    Options.optional
  ),
  profile: Options.text("profile").pipe(
    Options.withPseudoName("NAME"),
    Options.withDescription("The account to act on, by its name from plaza auth login, instead of PLAZA_PROFILE and the default."),
    Options.optional
  )
}

/** An option with a value. */
export const text = (name: string, value: string, description: string): Options.Options<string> =>
  Options.text(name).pipe(Options.withPseudoName(value), Options.withDescription(description))

/** Runs a command with output and progress as the flags ask. */
export const withOutput = <A, E, R>(
  flags: Output.Settings,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, Exclude<Exclude<R, Output.Output | Progress.Progress>, Scope.Scope> | Streams> =>
  Effect.provide(effect, Layer.merge(Output.layer(flags), Progress.layer(flags))).pipe(Effect.scoped)

/** Parses an option value as a whole number of at least 1. */
export const count = (option: string, value: string): Effect.Effect<number, UsageError> =>
  /^[1-9]\d{0,14}$/.test(value)
    ? Effect.succeed(Number(value))
    : Effect.fail(new UsageError({ message: `${option} has to be a whole number of at least 1, and "${value}" is none` }))

export const paging = {
  limit: Options.optional(text("limit", "N", "Print at most N (default: 20).")),
  all: Options.boolean("all").pipe(Options.withDescription("Print the whole list."))
}

const defaultLimit = 20

/** The number of items to print; undefined for all. */
export const limitOf = (
  paging: { readonly limit: Option.Option<string>; readonly all: boolean }
): Effect.Effect<{ readonly limit?: number }, UsageError> =>
  Option.match(paging.limit, {
    onNone: () => Effect.succeed(paging.all ? {} : { limit: defaultLimit }),
    onSome: (limit) =>
      paging.all
        ? Effect.fail(new UsageError({ message: "--limit and --all don't go together: leave one of them out" }))
        : Effect.map(count("--limit", limit), (limit) => ({ limit }))
  })
