/**
 * The schema of a fault: what fails, which calls it hits, and how often.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { described, nonNegativeInt, oneOf, optional } from "../Validation.ts"

/**
 * The method of a call, or a pattern with `*`. One that can match no call is refused, because a test that counts 0 calls would otherwise
 * pass by mistake.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Method = Schema.String.check(Schema.isPattern(/^[^a-z]*$/u, { message: "must be in capitals, such as POST" }))

/** The methods of a call that a fault may name; `*` is any. */
export const methods = ["*", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY"] as const

/** A parameter as routers and documents write it, also percent-encoded: `:id`, `{id}`, `<id>`. */
const isParameter = (segment: string): boolean => /^(:\w+|\{.*\}|%7B.*%7D|<.*>|%3C.*%3E)$/i.test(segment)

const utf8 = new TextEncoder()

const percentEncoded = (text: string): string =>
  Array.from(utf8.encode(text), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("")

/** Why no call has such a path, with the right form. */
const problemOfPath = (path: string): string | undefined => {
  const segments = path.split("/")
  const parameter = segments.find(isParameter)
  if (parameter !== undefined) {
    return `must have * in place of ${parameter}, such as ${segments.map((segment) => isParameter(segment) ? "*" : segment).join("/")}`
  }
  const [sent = ""] = path.split(/[?#]/)
  if (sent !== path) {
    return `must be without a query, such as ${sent}`
  }
  // Every client percent-encodes these characters.
  const encoded = path.replace(/[^!-~]|["<>`{}]/gu, percentEncoded)
  return encoded === path ? undefined : `must be as it is sent, such as ${encoded}`
}

/**
 * The path of a call, or a pattern with `*`. One that can match no call is refused.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Path = Schema.String.check(
  Schema.isPattern(/^(?!\/open\/v1(\/|$))[/*]/u, { message: "must begin with / or *, without /open/v1, such as /posts" }),
  Schema.makeFilter(problemOfPath)
)

/** The value of a key has at least 40 characters. */
const maxKeyId = 39

const count = Schema.Int.check(Schema.isGreaterThan(0))

/** Which calls a fault hits. */
const target = {
  /** The method in capitals, or `*` for any (default: any). */
  method: optional(described(Schema.Literals(methods), "* or a method in capitals, such as POST")),
  /** A path as it is sent, without `/open/v1` and the query; `*` matches any run of characters (default: any path). */
  path: optional(Path),
  /** The id of a key, never its value (default: any key, or none). */
  key: optional(Schema.String.check(Schema.isMaxLength(maxKeyId, { message: "must be the id of a key, not its value" }))),
  /** The id or the username of an account (default: any account, or none). */
  account: optional(Schema.String),
  /** The first of the matching calls that it hits, counted from 1 (default: 1, or `every` if that is set). */
  nth: optional(count),
  /** Hits only every nth of the matching calls, starting with `nth` (default: 1). */
  every: optional(count),
  /**
   * How many calls it hits (default: 1, for a sequence the number of its outcomes; unlimited with a `rate`, with `every` or with
   * `lastsMillis`).
   */
  times: optional(count),
  /** How long it is active after it was added, in milliseconds by the sandbox's clock (default: until its `times` are used up). */
  lastsMillis: optional(count),
  /** The share of calls it hits, from 0 to 1, by a generator that the seed determines (default: all). */
  rate: optional(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })))
}

const When = oneOf(["before", "after"])
/**
 * - `before`: the request does not reach its handler, or only later if the latitude has a `lateCommitMillis`.
 * - `after`: the handler has run and its changes are kept; only the response differs.
 *
 * @since 0.1.0
 * @category models
 */
export type When = typeof When.Type

/**
 * The maximum duration in milliseconds, a day: timers of the system can't wait for a month.
 *
 * @since 0.1.0
 * @category constants
 */
export const maxMillis = 86_400_000

/** A duration in milliseconds. */
const millis = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: maxMillis }))
const status = Schema.Int.check(Schema.isBetween({ minimum: 200, maximum: 599 }))
const retryAfter = optional(Schema.String.check(Schema.isPattern(/^[\t -~]*$/u)))
const location = optional(Schema.String.check(Schema.isPattern(/^[\t -~]*$/u)))
const contentType = optional(Schema.String.check(Schema.isPattern(/^[\t -~]*$/u)))

/** A response in place of the service's own. */
const replacement = {
  /** The code of the envelope (default: the documented one of the status). */
  code: optional(Schema.String),
  /** The message of the envelope. */
  message: optional(Schema.String),
  /** The whole body, sent unchanged instead of the envelope, such as a proxy's page or an empty text. */
  body: optional(Schema.String),
  /** The content type of `body`. */
  contentType,
  /** The `Retry-After` header, sent unchanged. */
  retryAfter,
  /** The `Location` header of a redirect, sent unchanged. */
  location
}

/**
 * A duration in milliseconds: the same for every call, or drawn for each call by the generator of the seed.
 *
 * - `uniform`: from `min` to `max`.
 * - `normal`: by mean and standard deviation; values below 0 are 0.
 * - `logNormal`: by median and 99th percentile, which is how latencies are usually measured: a few calls take much longer.
 *
 * @since 0.1.0
 * @category models
 */
export const Latency = Schema.Union([
  millis,
  Schema.Struct({ distribution: Schema.Literal("uniform"), min: millis, max: millis }).check(
    Schema.makeFilter(({ max, min }) => min <= max || { path: ["max"], issue: "must be at least min" })
  ),
  Schema.Struct({ distribution: Schema.Literal("normal"), mean: millis, deviation: millis }),
  Schema.Struct({
    distribution: Schema.Literal("logNormal"),
    median: Schema.Finite.check(Schema.isGreaterThan(0), Schema.isLessThanOrEqualTo(maxMillis)),
    p99: millis
  }).check(
    Schema.makeFilter(({ median, p99 }) => median <= p99 || { path: ["p99"], issue: "must be at least the median" })
  )
]).annotate({ identifier: "Latency" })
/** @since 0.1.0 @category models */
export type Latency = typeof Latency.Type

const delay = { when: When, millis: Latency }
const statusFields = { when: When, status, ...replacement }
const drop = { when: When }
const cut = { when: When, status: optional(status), ...replacement }
const slow = { when: When, millis, status: optional(status), ...replacement }
const garbage = { body: Schema.String, contentType }

const kind = <Kind extends string>(name: Kind) => ({ kind: Schema.Literal(name) })

/**
 * Delays the response, by Clock. `before` delays the request: if the caller closes the connection meanwhile, the handler does
 * not run. `after` delays the response.
 */
const Delay = Schema.Struct({ ...kind("delay"), ...target, ...delay }).annotate({ identifier: "DelayFault" })

/**
 * Replaces the service's own response.
 */
const Status = Schema.Struct({ ...kind("status"), ...target, ...statusFields }).annotate({ identifier: "StatusFault" })

/**
 * Closes the connection instead of sending a response.
 */
const Drop = Schema.Struct({ ...kind("drop"), ...target, ...drop }).annotate({ identifier: "DropFault" })

/**
 * Sends the head of the response and the first half of its body, then closes the connection. The response is the service's
 * own, or one with the `status` of the fault.
 */
const Cut = Schema.Struct({ ...kind("cut"), ...target, ...cut }).annotate({ identifier: "CutFault" })

/**
 * Sends the head of the response at once and its body in pieces, by Clock. The response is the service's own, or one with the
 * `status` of the fault.
 */
const Slow = Schema.Struct({ ...kind("slow"), ...target, ...slow }).annotate({ identifier: "SlowFault" })

/**
 * Runs the handler, then sends a 200 with a body that isn't JSON.
 */
const Garbage = Schema.Struct({ ...kind("garbage"), ...target, ...garbage }).annotate({ identifier: "GarbageFault" })

/**
 * What happens to one call of a sequence: a fault without a target, or `pass` for none.
 *
 * @since 0.1.0
 * @category models
 */
export const Outcome = Schema.Union([
  Schema.Struct({ ...kind("delay"), ...delay }),
  Schema.Struct({ ...kind("status"), ...statusFields }),
  Schema.Struct({ ...kind("drop"), ...drop }),
  Schema.Struct({ ...kind("cut"), ...cut }),
  Schema.Struct({ ...kind("slow"), ...slow }),
  Schema.Struct({ ...kind("garbage"), ...garbage }),
  Schema.Struct(kind("pass"))
]).annotate({ identifier: "FaultOutcome" })
/** @since 0.1.0 @category models */
export type Outcome = typeof Outcome.Type

/**
 * Has the first outcome for the first call that it hits, the second one for the next, and so on. After the last outcome it
 * continues with the first one if its `times` are not used up.
 */
const Sequence = Schema.Struct({ ...kind("sequence"), ...target, outcomes: Schema.NonEmptyArray(Outcome) }).annotate({
  identifier: "SequenceFault"
})

/**
 * A fault. Of the faults that match a call, the first delay and the first of any other kind take effect together.
 *
 * @since 0.1.0
 * @category models
 */
export const Fault = Schema.Union([Delay, Status, Drop, Cut, Slow, Garbage, Sequence]).annotate({
  identifier: "Fault"
})
/** @since 0.1.0 @category models */
export type Fault = typeof Fault.Type
/**
 * A wait before or after the handler.
 *
 * @since 0.1.0
 * @category models
 */
export interface Pause {
  readonly when: When
  readonly millis: number
}
/**
 * An outcome that changes the response and not only its time.
 *
 * @since 0.1.0
 * @category models
 */
export type ResponseFault = Exclude<Outcome, { readonly kind: "delay" | "pass" }>

/** @since 0.1.0 @category models */
export const FaultId = Schema.String.pipe(Schema.brand("FaultId"))
/** @since 0.1.0 @category models */
export type FaultId = typeof FaultId.Type

/**
 * An added fault and its counters.
 *
 * @since 0.1.0
 * @category models
 */
export const ActiveFault = Schema.Struct({
  id: FaultId,
  fault: Fault,
  /** Number of calls it has hit. */
  hits: nonNegativeInt,
  /** Number of calls it will still hit; null if unlimited. */
  remaining: Schema.NullOr(nonNegativeInt)
}).annotate({ identifier: "ActiveFault" })
/** @since 0.1.0 @category models */
export interface ActiveFault extends Schema.Struct.Type<typeof ActiveFault.fields> {}

/**
 * The faults of a sandbox.
 *
 * @since 0.1.0
 * @category models
 */
export const FaultList = Schema.Struct({
  /** The faults that may still hit a call. */
  data: Schema.Array(ActiveFault),
  /** The faults that have hit no call: active ones, and those whose time is over. */
  unused: Schema.Array(ActiveFault)
})
