/** The options that commands share, and the layers that they configure. */
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Options from "@effect/cli/Options"
import * as ValidationError from "@effect/cli/ValidationError"
import type * as FileSystem from "@effect/platform/FileSystem"
import { UsageError } from "@plaza/cli-kit/CliError"
import * as Output from "@plaza/cli-kit/Output"
import * as Progress from "@plaza/cli-kit/Progress"
import type { Streams } from "@plaza/cli-kit/Streams"
import * as Values from "@plaza/cli-kit/Values"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Connection from "../profiles/Connection.ts"
import type { ConnectionFlags } from "../profiles/ConnectionSettings.ts"
import { EphemeralSandbox } from "../sandbox/EphemeralSandbox.ts"
import * as WaitNote from "./WaitNote.ts"

export interface Flags extends Output.Settings, ConnectionFlags {}

/** `--json` and `--quiet`, of every command. */
export const outputOptions = {
  json: Options.boolean("json").pipe(
    Options.withDescription("Print one JSON value, or one per line for lists. A failure is one JSON object on standard error.")
  ),
  quiet: Options.boolean("quiet").pipe(Options.withDescription("Print no progress and no notes."))
}

/** An option with a value. */
export const text = (name: string, value: string, description: string): Options.Options<string> =>
  Options.text(name).pipe(Options.withPseudoName(value), Options.withDescription(description))

/** `--base-url` and `--profile`, and {@link outputOptions}: of commands that send requests. */
export const commonOptions = {
  ...outputOptions,
  baseUrl: Options.optional(
    text("base-url", "URL", "The base URL of the service; ends with /open/v1 (default: PLAZA_BASE_URL, or the profile's).")
  ),
  profile: Options.optional(
    text("profile", "NAME", "The profile to use, from plaza auth login (default: PLAZA_PROFILE, or the default profile).")
  )
}

/** An option with a whole number. */
export const wholeNumber = (
  name: string,
  { description, ...bounds }: { readonly description: string; readonly min: 0 | 1; readonly max?: number }
): Options.Options<number> => text(name, "N", description).pipe(Values.option(Values.wholeNumber(`--${name}`, bounds)))

const defaultLimit = 20

/** `--limit` and `--all` of a list. */
export const paging: Options.Options<{ readonly limit?: number }> = Options.all({
  limit: Options.optional(wholeNumber("limit", { min: 1, description: `The maximum number of items (default: ${defaultLimit}).` })),
  all: Options.boolean("all").pipe(Options.withDescription("Print the whole list."))
}).pipe(Options.mapEffect(({ all, limit }) =>
  all && Option.isSome(limit)
    ? Effect.fail(ValidationError.invalidValue(HelpDoc.p("--limit and --all can't be used together: remove one of them")))
    : Effect.succeed(all ? {} : { limit: Option.getOrElse(limit, () => defaultLimit) })
))

const rejectInSandbox = (flags: Output.Settings & Partial<ConnectionFlags>): Effect.Effect<void, UsageError> =>
  Effect.flatMap(EphemeralSandbox, (isActive) => {
    const flag = [["--base-url", flags.baseUrl] as const, ["--profile", flags.profile] as const]
      .find(([, value]) => value !== undefined && Option.isSome(value))
    return !isActive || flag === undefined
      ? Effect.void
      : new UsageError({ message: `--sandbox and ${flag[0]} can't be used together: the sandbox has its own base URL and key` })
  })

/** Runs a command with the output and progress that its flags select. */
export const withOutput = <A, E, R>(
  flags: Output.Settings & Partial<ConnectionFlags>,
  command: Effect.Effect<A, E, R>
): Effect.Effect<A, E | UsageError, Exclude<Exclude<Exclude<R, Output.Output>, Progress.Progress>, Scope.Scope> | Streams> =>
  Effect.zipRight(rejectInSandbox(flags), command).pipe(
    Effect.provideServiceEffect(Output.Output, Output.make(flags)),
    Effect.provideServiceEffect(Progress.Progress, Progress.make(flags)),
    Effect.scoped
  )

/** Provides the services of the client. A person sees when the command waits for the rate limit. */
export const withServices = (flags: ConnectionFlags, options?: Connection.Options) => <A, E, R>(command: Effect.Effect<A, E, R>) =>
  Effect.provide(WaitNote.during(command), Connection.layer(flags, options))

/** {@link withOutput} and {@link withServices}. `hasBar`: it shows a progress bar, and a note would be written across it. */
export const withClient = <A, E, R>(
  flags: Flags,
  command: Effect.Effect<A, E, R>,
  { hasBar = false } = {}
): Effect.Effect<
  A,
  E | UsageError | ConfigError.ConfigError,
  | Exclude<Exclude<Exclude<Exclude<R, Connection.Services> | FileSystem.FileSystem, Output.Output>, Progress.Progress>, Scope.Scope>
  | Streams
> => withOutput(flags, hasBar ? Effect.provide(command, Connection.layer(flags)) : withServices(flags)(command))
