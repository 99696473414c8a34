/**
 * Random programs of writes with random faults for the delivery model. A fault is consistent: a 429, 403 or 404 replaces the
 * handler's work, and a 2xx follows it.
 */
import { type Fault, Latitude } from "@plaza/sandbox"
import { arrayOf, between, elementOf, weighted } from "@plaza/testing/Generators"
import { Arbitrary } from "effect"

/** The time of one attempt. */
export const timeoutMillis = 5_000

/** Requests in a window, for the sandbox; few, so that calls wait. */
export const allowance = 10

export type Write =
  | { readonly kind: "post"; readonly text: number; readonly media: boolean }
  | { readonly kind: "comment" | "message" | "story" | "upload" }
  | { readonly kind: "like" | "follow" | "stock" | "ship"; readonly target: number }

export interface Call {
  readonly write: Write
  /** When it begins, in milliseconds from the beginning of its step. */
  readonly at: number
  /** When its caller goes away, in milliseconds from its own beginning. */
  readonly leavesAfter: number | null
}

/** A fault whose `Retry-After`, where it is a date, is known only when it is added. */
export type PlannedFault = Fault & { readonly retryAtSeconds?: number }

/** A write of another client of the same account, with a key of its own. */
export interface OtherCall {
  readonly write: { readonly kind: "post"; readonly text: number } | { readonly kind: "ship"; readonly target: number }
  /** When it is sent, in milliseconds from the beginning of its step. */
  readonly at: number
}

interface Step {
  readonly faults: ReadonlyArray<PlannedFault>
  readonly others: ReadonlyArray<OtherCall>
  readonly calls: ReadonlyArray<Call>
  /** In milliseconds, after the last of its calls. */
  readonly pause: number
}

export interface Program {
  /** How the service differs from the default one. */
  readonly latitude: Latitude.Change
  /** Of the jitter. */
  readonly seed: number
  /** Requests in a window, for the client. */
  readonly rateLimit: number
  readonly maxWaitSeconds: number
  readonly retries: "as shipped" | "once, at once" | "none"
  readonly steps: ReadonlyArray<Step>
}

/** Texts of posts, those of one group alike but for what services change; a group of its own for what isn't here. */
export const texts: ReadonlyArray<readonly [group: string, text: string]> = [
  ["morning", "good morning"],
  ["morning", "good morning"],
  ["morning", " good morning\n"],
  ["café", "caf\u00e9"],
  ["café", "cafe\u0301"],
  ["Grüße", "schöne Grüße aus Köln"],
  ["link", "read https://example.org/a/long/path?x=1&y=2 now"],
  ["bare link", "https://example.org/another/long/path"],
  ["party", "the party \u{1f389} is \"on\" -- it's at 8..."],
  ["emoji", "\u{1f389}\u{1f525}"]
]

const post: Arbitrary.Arbitrary<Write> = Arbitrary.all({
  kind: Arbitrary.Constant("post"),
  text: between(0, texts.length),
  media: weighted([4, Arbitrary.Constant(false)], [1, Arbitrary.Constant(true)])
})

const anyWrite = weighted<Write>(
  [5, post],
  [4, Arbitrary.all({ kind: elementOf(["comment", "message", "story", "upload"] as const) })],
  [5, Arbitrary.all({ kind: elementOf(["like", "follow", "stock", "ship"] as const), target: between(0, 1) })]
)

const equalPost: Arbitrary.Arbitrary<Write> = Arbitrary.all({
  kind: Arbitrary.Constant("post"),
  text: between(0, 2),
  media: Arbitrary.Constant(false)
})

const sameTarget: Arbitrary.Arbitrary<Write> = Arbitrary.all({
  kind: elementOf(["stock", "ship"] as const),
  target: Arbitrary.Constant(0)
})

const callOf = (write: Arbitrary.Arbitrary<Write>): Arbitrary.Arbitrary<Call> =>
  Arbitrary.all({
    write,
    at: elementOf([0, 0, 0, 100, 3_000, 7_000, 61_000]),
    leavesAfter: weighted<number | null>(
      [5, Arbitrary.Constant(null)],
      [1, elementOf([0, 1, 50, 300, 2_000, 5_001, 30_000])]
    )
  })

const otherCall: Arbitrary.Arbitrary<OtherCall> = Arbitrary.all({
  write: weighted<OtherCall["write"]>(
    [3, Arbitrary.all({ kind: Arbitrary.Constant("post"), text: between(0, texts.length - 1) })],
    [1, Arbitrary.all({ kind: Arbitrary.Constant("ship"), target: between(0, 1) })]
  ),
  at: elementOf([0, 50, 900, 3_000, 8_000, 62_000])
})

type Target = Pick<Effect, "method" | "path">

const creating: Target = { method: "POST", path: "/posts" }
const listing: Target = { method: "GET", path: "/me/posts" }
const shipping: Target = { method: "POST", path: "/store/orders/*/ship" }
const stocking: Target = { method: "PATCH", path: "/store/products/*/stock" }

const anyTarget: ReadonlyArray<Target> = [
  {},
  {},
  { method: "POST" },
  creating,
  creating,
  listing,
  shipping,
  stocking,
  { method: "POST", path: "/posts/*/comments" },
  { method: "POST", path: "/posts/*/like" },
  { method: "POST", path: "/users/*/follow" },
  { method: "POST", path: "/conversations/*/messages" },
  { method: "POST", path: "/media" },
  { method: "POST", path: "/stories" }
]

const when = elementOf(["before", "after"] as const)

type Effect = Extract<PlannedFault, { readonly kind: "status" | "drop" | "delay" | "garbage" | "cut" }>

const retries: ReadonlyArray<{ readonly retryAfter?: string; readonly retryAtSeconds?: number }> = [
  {},
  ...["0", "2", "45", "3600"].map((retryAfter) => ({ retryAfter })),
  ...[-5, 3, 50, 3_600].map((retryAtSeconds) => ({ retryAtSeconds }))
]

// What a client is tempted to repeat comes most often.
const effect = weighted<Effect>(
  [
    4,
    Arbitrary.all({
      kind: Arbitrary.Constant("status"),
      when,
      status: elementOf([500, 502, 503, 504, 520, 500, 502, 503, 504, 520, 301, 303, 307, 408])
    })
  ],
  [4, Arbitrary.all({ kind: Arbitrary.Constant("drop"), when })],
  [
    4,
    Arbitrary.all({
      kind: Arbitrary.Constant("delay"),
      when,
      millis: elementOf([20, 400, timeoutMillis - 1, timeoutMillis + 1, 4 * timeoutMillis])
    })
  ],
  [2, Arbitrary.map(elementOf(retries), (retry): Effect => ({ kind: "status", when: "before", status: 429, ...retry }))],
  [2, Arbitrary.map(elementOf([403, 404]), (status): Effect => ({ kind: "status", when: "before", status }))],
  [2, Arbitrary.all({ kind: Arbitrary.Constant("garbage"), body: elementOf(["", "<html>", "{", "null", "{}"]) })],
  [2, Arbitrary.Constant({ kind: "cut", when: "after" })]
)

const faultOn = (targets: ReadonlyArray<Target>): Arbitrary.Arbitrary<PlannedFault> =>
  Arbitrary.map(
    Arbitrary.all([elementOf(targets), effect, elementOf([1, 1, 2, 6])]),
    ([target, effect, times]) => ({ ...target, ...effect, times })
  )

const fields = Object.keys(Latitude.defaults)

/** Any service that the document permits, in a form that shrinks to the fields that matter. */
const latitude: Arbitrary.Arbitrary<Latitude.Change> = Arbitrary.map(
  Arbitrary.all({
    seed: between(0, 2 ** 31 - 1),
    drawn: weighted<ReadonlyArray<string>>(
      [1, Arbitrary.Constant([])],
      [2, arrayOf(elementOf(fields), { maxLength: fields.length })],
      [1, Arbitrary.Constant(fields)]
    )
  }),
  ({ drawn, seed }) => Object.fromEntries(Object.entries(Latitude.fromSeed(seed)).filter(([name]) => drawn.includes(name)))
)

const programOf = (write: Arbitrary.Arbitrary<Write>, targets: ReadonlyArray<Target>): Arbitrary.Arbitrary<Program> =>
  Arbitrary.all({
    latitude,
    seed: between(0, 1_000),
    rateLimit: elementOf([allowance, allowance, 3]),
    maxWaitSeconds: elementOf([300, 300, 20]),
    retries: elementOf(["as shipped", "as shipped", "once, at once", "none"] as const),
    steps: arrayOf(
      Arbitrary.all({
        faults: arrayOf(faultOn(targets), { maxLength: 4 }),
        others: weighted<ReadonlyArray<OtherCall>>([3, Arbitrary.Constant([])], [1, arrayOf(otherCall, { maxLength: 2 })]),
        calls: arrayOf(callOf(write), { minLength: 1, maxLength: 5 }),
        pause: elementOf([0, 500, 20_000, 70_000])
      }),
      { minLength: 1, maxLength: 4 }
    )
  })

/** Programs of every write, and narrow ones in which calls get in each other's way. */
export const program: Arbitrary.Arbitrary<Program> = weighted(
  [2, programOf(anyWrite, anyTarget)],
  [1, programOf(equalPost, [creating, creating, listing])],
  [1, programOf(sameTarget, [shipping, stocking])]
)
