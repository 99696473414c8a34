/**
 * The schema of a fault: what fails, which calls it hits, and how often.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { allowedValues } from "../AllowedValues.js"
import { optional } from "../OptionalField.js"

/** Which calls a fault hits. */
const target = {
  /** The method in capitals, or `*` for any (default: any). */
  method: optional(Schema.String),
  /** A path as it is sent, without `/open/v1` and the query; `*` matches any run of characters (default: any path). */
  path: optional(Schema.String),
  /** How many calls it hits (default: 1, or unlimited if a `rate` is set). */
  times: optional(Schema.Int.pipe(Schema.positive())),
  /** The share of calls it hits, from 0 to 1, by a generator that the seed determines (default: all). */
  rate: optional(Schema.Number.pipe(Schema.between(0, 1)))
}

const When = allowedValues(Schema.Literal("before", "after"))
/**
 * - `before`: the request does not reach its handler, or only later if the latitude has a `lateCommitMillis`.
 * - `after`: the handler has run and its changes are kept; only the response differs.
 *
 * @since 0.1.0
 * @category models
 */
export type When = typeof When.Type

/** A duration in milliseconds. */
const millis = Schema.Number.pipe(Schema.finite(), Schema.nonNegative())
const status = Schema.Int.pipe(Schema.between(200, 599))
const retryAfter = optional(Schema.String.pipe(Schema.pattern(/^[\t -~]*$/)))
const location = optional(Schema.String.pipe(Schema.pattern(/^[\t -~]*$/)))
const contentType = optional(Schema.String.pipe(Schema.pattern(/^[\t -~]*$/)))

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
 * Delays the response, by Clock. `before` delays the request: if the caller closes the connection meanwhile, the handler does
 * not run. `after` delays the response.
 *
 * @since 0.1.0
 * @category models
 */
export const Delay = Schema.Struct({
  kind: Schema.Literal("delay"),
  ...target,
  when: When,
  millis
}).annotations({ identifier: "DelayFault" })

/**
 * Replaces the service's own response.
 *
 * @since 0.1.0
 * @category models
 */
export const Status = Schema.Struct({
  kind: Schema.Literal("status"),
  ...target,
  when: When,
  status,
  ...replacement
}).annotations({ identifier: "StatusFault" })

/**
 * Closes the connection instead of sending a response.
 */
const Drop = Schema.Struct({
  kind: Schema.Literal("drop"),
  ...target,
  when: When
}).annotations({ identifier: "DropFault" })

/**
 * Sends the head of the response and the first half of its body, then closes the connection. The response is the service's
 * own, or one with the `status` of the fault.
 *
 * @since 0.1.0
 * @category models
 */
export const Cut = Schema.Struct({
  kind: Schema.Literal("cut"),
  ...target,
  when: When,
  status: optional(status),
  ...replacement
}).annotations({ identifier: "CutFault" })

/**
 * Sends the head of the response at once and its body in pieces, by Clock. The response is the service's own, or one with the
 * `status` of the fault.
 */
const Slow = Schema.Struct({
  kind: Schema.Literal("slow"),
  ...target,
  when: When,
  millis,
  status: optional(status),
  ...replacement
}).annotations({ identifier: "SlowFault" })

/**
 * Runs the handler, then sends a 200 with a body that isn't JSON.
 */
const Garbage = Schema.Struct({
  kind: Schema.Literal("garbage"),
  ...target,
  body: Schema.String,
  contentType
}).annotations({ identifier: "GarbageFault" })

/**
 * A fault. Of the faults that match a call, the first delay and the first of any other kind take effect together.
 *
 * @since 0.1.0
 * @category models
 */
export const Fault = Schema.Union(Delay, Status, Drop, Cut, Slow, Garbage).annotations({
  identifier: "Fault",
  // A misspelt field would silently make another fault.
  parseOptions: { onExcessProperty: "error" }
})
/** @since 0.1.0 @category models */
export type Fault = typeof Fault.Type
/** @since 0.1.0 @category models */
export type Delay = typeof Delay.Type
/**
 * A fault that changes the response and not only its time.
 *
 * @since 0.1.0
 * @category models
 */
export type ResponseFault = Exclude<Fault, Delay>

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
  hits: Schema.NonNegativeInt,
  /** Number of calls it will still hit; null if unlimited. */
  remaining: Schema.NullOr(Schema.NonNegativeInt)
}).annotations({ identifier: "ActiveFault" })
/** @since 0.1.0 @category models */
export interface ActiveFault extends Schema.Schema.Type<typeof ActiveFault> {}
