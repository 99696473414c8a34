/** Options as plain values, and their conversion to those of the client. */
import { ClientError, Durations, Plaza as Client } from "@plaza/client"
import { type Plain, toPlain } from "@plaza/domain/Plain"
import { type Duration, Effect, type FileSystem, Option, Redacted, Result, Schedule, Stream } from "effect"
import type { Failure } from "./Errors.ts"
import { toFailure } from "./Failures.ts"

/** A duration: milliseconds, or a text such as `"30s"`, `"1h30m"` or `"2 minutes"`. */
export type DurationInput = number | string

/** One attempt of a call, after its end. Durations are in milliseconds. */
export interface Attempt extends Omit<Plain<Client.Attempt>, "failure"> {
  /** The failure of the attempt; undefined if it succeeded. */
  readonly failure: Failure | undefined
}

/** When to repeat an attempt, if the delivery rules allow it. They decide whether a repetition is safe; this decides when. */
export interface RetryOptions {
  /** The maximum number of retries (default: 4). */
  readonly times?: number | undefined
  /** The delay before the first retry, which doubles with each further one, with jitter (default: 250 milliseconds). */
  readonly delay?: DurationInput | undefined
  /** The time after which no retry starts (default: 2 minutes). */
  readonly within?: DurationInput | undefined
}

/** Options of a call or a list. They override those of the client. */
export interface CallOptions {
  /**
   * Ends the call or the list: it rejects with the reason of the signal. A write that is ended while it runs may have been carried out.
   */
  readonly signal?: AbortSignal | undefined
  /** The timeout of one attempt, including its response; for an upload, the longest time without progress. */
  readonly timeout?: DurationInput | undefined
  /** The longest time that the call waits for the key's allowance, over all attempts; 0 means no wait. */
  readonly maxWait?: DurationInput | undefined
  /** When to retry; false means no retries, except after a 429. It replaces the whole option of the client. */
  readonly retry?: RetryOptions | false | undefined
  /** Observes each attempt, such as for logs. The call waits for its Promise. */
  readonly onAttempt?: ((attempt: Attempt) => void | Promise<void>) | undefined
}

/** A line of the client's log. */
export interface LogEntry {
  readonly level: string
  /** The name of the event, such as `rate_limit.operation_paused`. */
  readonly event: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** The options of {@link createPlaza}. A duration is in milliseconds or a text such as `"30s"`. */
export type Options =
  & {
    readonly [Key in keyof Client.Options as Exclude<Key, "retry" | "onAttempt">]: Duration.Input extends
      Exclude<Client.Options[Key], undefined> ? DurationInput | undefined
      : Plain<Client.Options[Key]>
  }
  & Pick<CallOptions, "onAttempt" | "retry">
  & TransportOptions
  & {
    /** Receives the log of the client from level `Info` on (default: warnings and errors go to standard error). */
    readonly logger?: ((entry: LogEntry) => void) | undefined
  }

/** The options of `createPlaza.fromEnv`. */
export type EnvironmentOptions = { readonly [Key in keyof Options as Exclude<Key, "apiKey" | "baseUrl">]: Options[Key] }

/** How requests are sent. */
export interface TransportOptions {
  /** Sends every request (default: the HTTP of Node in Node, otherwise the `fetch` of the runtime). Excludes the options of Node. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Node only: the address of the proxy, or false for none (default: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`). */
  readonly proxy?: string | false | undefined
  /** Node only: PEM certificates to trust in addition to those of Node (default: none). */
  readonly ca?: string | ReadonlyArray<string> | undefined
  /** Node only: how long to keep an idle connection (default: 4 seconds). */
  readonly keepAlive?: DurationInput | undefined
  /** Node only: the timeout for opening a connection (default: 10 seconds). */
  readonly connectTimeout?: DurationInput | undefined
}

/** An invalid argument or option. */
export const invalid = (field: string, requirement: string) => new ClientError.InvalidInput({ field, message: `${field} ${requirement}` })

// A typo in code without types would be an option that has no effect. A test compares the names with the types.
const optionNames = new Set((
  "allowInsecureHttp apiKey application baseUrl ca connectTimeout fetch keepAlive logger maxResponseBytes maxWait onAttempt propagateTrace " +
  "proxy rateLimit rateWindow retry retryBudget settleTime timeout"
).split(" "))
const callOptionNames = new Set((
  "contentType cursor delivery limit maxWait method onAttempt onProgress pageSize parse path payload query retry signal timeout"
).split(" "))

/** The options of `createPlaza.fromEnv`: the variables alone identify the service. */
const environmentNames = new Set([...optionNames].filter((name) => name !== "apiKey" && name !== "baseUrl"))
const retryNames = new Set(["times", "delay", "within"])

const checkNames = (options: object, names: ReadonlySet<string>, path = ""): void => {
  const unknown = Object.keys(options).find((name) => !names.has(name))
  if (unknown !== undefined) throw invalid(path + unknown, `is no option; the options are ${[...names].join(", ")}`)
}

/** The client parses numbers and long texts such as "30 seconds", and rejects what is no duration. */
export const toDuration = (input: DurationInput): Duration.Input =>
  // True of a text that the client parses; it rejects any other.
  typeof input === "string" ? Option.getOrElse(Durations.fromText(input), () => input as Duration.Input) : input

const toSchedule = (retry: RetryOptions | false): Schedule.Schedule<unknown> => {
  if (retry === false) return Schedule.recurs(0)
  if (typeof retry !== "object" || retry === null) throw invalid("retry", "must be false or an object with times, delay and within")
  checkNames(retry, retryNames, "retry.")
  const { delay = 250, times = 4, within = "2m" } = retry
  if (!Number.isSafeInteger(times) || times < 0) throw invalid("retry.times", "must be a whole number of 0 or more")
  const duration = (field: string, parsed: Result.Result<Duration.Duration, string>) =>
    Result.getOrThrowWith(parsed, (problem) => invalid(field, problem))
  return Schedule.exponential(duration("retry.delay", Durations.parsePositive(toDuration(delay)))).pipe(
    Schedule.jittered,
    Schedule.upTo({ times, duration: duration("retry.within", Durations.parse(toDuration(within))) })
  )
}

const toObserver = (observe: NonNullable<CallOptions["onAttempt"]>): Client.OnAttempt => {
  if (typeof observe !== "function") throw invalid("onAttempt", "must be a function")
  return (attempt) => {
    // True because `toPlain` and `toFailure` return these forms of their arguments.
    const plain = { ...toPlain(attempt) as Plain<Client.Attempt>, failure: toFailure(attempt.failure) as Failure | undefined }
    return Effect.promise(async () => observe(plain))
  }
}

/** The key as the client takes it. Throws `InvalidInput`. */
export const toApiKey = (apiKey: string): Redacted.Redacted => {
  if (typeof apiKey !== "string") throw invalid("apiKey", "must be a text")
  return Redacted.make(apiKey)
}

/** Without undefined fields, which would replace the value of a variable. */
const defined = (fields: object): object => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

/** The options of the client, without those that identify the service. The client checks most of them. Throws `InvalidInput`. */
export const toClientOptions = (options: EnvironmentOptions, hasService: boolean): Omit<Client.Options, "apiKey" | "baseUrl"> => {
  checkNames(options, hasService ? optionNames : environmentNames)
  const { application, logger, maxWait, onAttempt, rateWindow, retry, settleTime, timeout } = options
  if (logger !== undefined && typeof logger !== "function") throw invalid("logger", "must be a function")
  if (application !== undefined && typeof application !== "string") throw invalid("application", "must be a text")
  const durations = Object.entries({ maxWait, rateWindow, settleTime, timeout }).flatMap(([name, input]) =>
    input === undefined ? [] : [[name, toDuration(input)] as const]
  )
  return {
    ...defined(options),
    ...Object.fromEntries(durations),
    retry: retry === undefined ? undefined : toSchedule(retry),
    onAttempt: onAttempt === undefined ? undefined : toObserver(onAttempt)
  }
}

/** The services of a client. */
export type Provided = Client.Services | FileSystem.FileSystem

/** A call of the client. */
export type Call = Effect.Effect<unknown, unknown, Provided>

/** A list of the client. */
export type List = Stream.Stream<unknown, unknown, Provided>

/** A call or a list. */
export type Calls = Call | List

const apply = <A>(value: A | undefined, option: (value: A) => (calls: Calls) => Calls) => (calls: Calls): Calls =>
  value === undefined ? calls : option(value)(calls)

const override = (calls: Calls, { maxWait, onAttempt, retry, signal, timeout }: CallOptions): Calls => {
  if (signal !== undefined && signal !== null && typeof signal.addEventListener !== "function")
    throw invalid("signal", "must be an AbortSignal")
  return [
    apply(maxWait, (maxWait) => Client.withMaxWait(toDuration(maxWait))),
    apply(timeout, (timeout) => Client.withTimeout(toDuration(timeout))),
    apply(retry, (retry) => Client.withRetry(toSchedule(retry))),
    apply(onAttempt, (onAttempt) => Client.onAttempt(toObserver(onAttempt)))
  ].reduce((calls, option) => option(calls), calls)
}

/** A call or a list with its options and its signal, or one that fails with `InvalidInput`. */
export const withCallOptions = (
  calls: Calls,
  options: unknown
): { readonly calls: Calls; readonly signal: AbortSignal | undefined } => {
  try {
    if (typeof options !== "object" && options !== undefined) throw invalid("options", "must be an object")
    const given: CallOptions = options ?? {}
    checkNames(given, callOptionNames)
    return { calls: override(calls, given), signal: given.signal ?? undefined }
  } catch (error) {
    return { calls: Stream.isStream(calls) ? Stream.fail(error) : Effect.fail(error), signal: undefined }
  }
}
