/**
 * A fault: what may go wrong around a call, which calls it hits, and how often. A value, as it is asked for and listed.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { allowedValues } from "../AllowedValues.js"

const optional = <S extends Schema.Schema.All>(schema: S) => Schema.optionalWith(schema, { exact: true })

/** Which calls a fault hits. */
const target = {
  /** The method in capitals, or `*` for any (default: any). */
  method: optional(Schema.String),
  /** A path as it is sent, without `/open/v1` and the query; `*` stands for any run of characters (default: any path). */
  path: optional(Schema.String),
  /** How many calls it hits (default: 1, or without an end when a `rate` is set). */
  times: optional(Schema.Int.pipe(Schema.positive())),
  /** The share of the calls it hits, from 0 to 1, drawn from a generator that the seed decides (default: all). */
  rate: optional(Schema.Number.pipe(Schema.between(0, 1)))
}

const When = allowedValues(Schema.Literal("before", "after"))
/**
 * - `before`: the request does not reach its handler, or only later where the latitude has a `lateCommitMillis`.
 * - `after`: the handler has run and its effect stands; only the answer is different.
 *
 * @since 0.1.0
 * @category models
 */
export type When = typeof When.Type

/** How long it takes, in milliseconds. */
const millis = Schema.Number.pipe(Schema.finite(), Schema.nonNegative())
const status = Schema.Int.pipe(Schema.between(200, 599))
const retryAfter = optional(Schema.String.pipe(Schema.pattern(/^[\t -~]*$/)))
const location = optional(Schema.String.pipe(Schema.pattern(/^[\t -~]*$/)))
const contentType = optional(Schema.String.pipe(Schema.pattern(/^[\t -~]*$/)))

/** An answer that stands in for the service's own. */
const replacement = {
  /** The code of the envelope (default: the documented one of the status). */
  code: optional(Schema.String),
  /** The message of the envelope. */
  message: optional(Schema.String),
  /** The whole body as it is sent, instead of the envelope: a proxy's page, nothing, anything. */
  body: optional(Schema.String),
  /** The content type of `body`. */
  contentType,
  /** The `Retry-After` header, sent as it stands here. */
  retryAfter,
  /** The `Location` header, sent as it stands here: where a redirect leads. */
  location
}

/**
 * The answer comes late, by Clock. Before the handler it stands for the way there, and a caller who goes away meanwhile
 * has sent nothing; after it, for the way back.
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
 * Another answer than the service's own.
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
 * The connection is closed instead of an answer.
 *
 * @since 0.1.0
 * @category models
 */
export const Drop = Schema.Struct({
  kind: Schema.Literal("drop"),
  ...target,
  when: When
}).annotations({ identifier: "DropFault" })

/**
 * The head of the answer arrives and the first half of its body, then the connection is closed. The answer is the
 * service's own, or one with the status that is set here.
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
 * The head of the answer arrives at once and its body little by little, by Clock. The answer is the service's own, or one
 * with the status that is set here.
 *
 * @since 0.1.0
 * @category models
 */
export const Slow = Schema.Struct({
  kind: Schema.Literal("slow"),
  ...target,
  when: When,
  millis,
  status: optional(status),
  ...replacement
}).annotations({ identifier: "SlowFault" })

/**
 * The handler has run, and the answer is a 200 with a body that isn't JSON.
 *
 * @since 0.1.0
 * @category models
 */
export const Garbage = Schema.Struct({
  kind: Schema.Literal("garbage"),
  ...target,
  body: Schema.String,
  contentType
}).annotations({ identifier: "GarbageFault" })

/**
 * One fault. Of those that match a call, the first delay and the first of any other kind take effect together.
 *
 * @since 0.1.0
 * @category models
 */
export const Fault = Schema.Union(Delay, Status, Drop, Cut, Slow, Garbage).annotations({
  identifier: "Fault",
  // A misspelt field would ask for another fault than was meant.
  parseOptions: { onExcessProperty: "error" }
})
/** @since 0.1.0 @category models */
export type Fault = typeof Fault.Type
/** @since 0.1.0 @category models */
export type Delay = typeof Delay.Type
/**
 * A fault that decides what the caller gets, not only when.
 *
 * @since 0.1.0
 * @category models
 */
export type Outcome = Exclude<Fault, Delay>

/** @since 0.1.0 @category models */
export const FaultId = Schema.String.pipe(Schema.brand("FaultId"))
/** @since 0.1.0 @category models */
export type FaultId = typeof FaultId.Type

/**
 * A fault that was asked for, and what has become of it.
 *
 * @since 0.1.0
 * @category models
 */
export const ActiveFault = Schema.Struct({
  id: FaultId,
  fault: Fault,
  /** Calls it has hit. */
  hits: Schema.NonNegativeInt,
  /** Calls it will still hit; null when there is no end. */
  remaining: Schema.NullOr(Schema.NonNegativeInt)
}).annotations({ identifier: "ActiveFault" })
/** @since 0.1.0 @category models */
export interface ActiveFault extends Schema.Schema.Type<typeof ActiveFault> {}
