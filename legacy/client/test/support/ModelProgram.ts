/**
 * Random programs of writes with random faults for the delivery model. A fault is consistent: a 429, 403 or 404 replaces the
 * handler's work, and a 2xx follows it.
 */
import { type Fault, Latitude } from "@plaza-legacy/sandbox"
import { FastCheck as fc } from "effect"

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
export type PlannedFault = typeof Fault.Type & { readonly retryAtSeconds?: number }

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

const post = fc.record({
  kind: fc.constant("post" as const),
  text: fc.nat(texts.length),
  media: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) })
})

const anyWrite: fc.Arbitrary<Write> = fc.oneof(
  { weight: 5, arbitrary: post },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom("comment" as const, "message" as const, "story" as const, "upload" as const) })
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom("like" as const, "follow" as const, "stock" as const, "ship" as const),
      target: fc.nat(1)
    })
  }
)

const equalPost: fc.Arbitrary<Write> = fc.record({
  kind: fc.constant("post" as const),
  text: fc.nat(2),
  media: fc.constant(false)
})

const sameTarget: fc.Arbitrary<Write> = fc.record({
  kind: fc.constantFrom("stock" as const, "ship" as const),
  target: fc.constant(0)
})

const callOf = (write: fc.Arbitrary<Write>): fc.Arbitrary<Call> =>
  fc.record({
    write,
    at: fc.constantFrom(0, 0, 0, 100, 3_000, 7_000, 61_000),
    leavesAfter: fc.oneof(
      { weight: 5, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: fc.constantFrom(0, 1, 50, 300, 2_000, 5_001, 30_000) }
    )
  })

const otherCall: fc.Arbitrary<OtherCall> = fc.record({
  write: fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("post" as const), text: fc.nat(texts.length - 1) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("ship" as const), target: fc.nat(1) }) }
  ),
  at: fc.constantFrom(0, 50, 900, 3_000, 8_000, 62_000)
})

interface Target {
  readonly method?: string
  readonly path?: string
}

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

const effects: ReadonlyArray<fc.Arbitrary<PlannedFault>> = [
  fc.record({
    kind: fc.constant("status" as const),
    when: fc.constantFrom("before" as const, "after" as const),
    status: fc.constantFrom(500, 502, 503, 504, 520, 500, 502, 503, 504, 520, 301, 303, 307, 408)
  }),
  fc.record({ kind: fc.constant("drop" as const), when: fc.constantFrom("before" as const, "after" as const) }),
  fc.record({
    kind: fc.constant("delay" as const),
    when: fc.constantFrom("before" as const, "after" as const),
    millis: fc.constantFrom(20, 400, timeoutMillis - 1, timeoutMillis + 1, 4 * timeoutMillis)
  }),
  fc.oneof(
    fc.constant({}),
    fc.record({ retryAfter: fc.constantFrom("0", "2", "45", "3600") }),
    fc.record({ retryAtSeconds: fc.constantFrom(-5, 3, 50, 3_600) })
  ).map((retry) => ({ kind: "status" as const, when: "before" as const, status: 429, ...retry })),
  fc.record({ kind: fc.constant("status" as const), when: fc.constant("before" as const), status: fc.constantFrom(403, 404) }),
  fc.record({ kind: fc.constant("garbage" as const), body: fc.constantFrom("", "<html>", "{", "null", "{}") }),
  fc.record({ kind: fc.constant("cut" as const), when: fc.constant("after" as const) })
]

const faultOn = (targets: ReadonlyArray<Target>): fc.Arbitrary<PlannedFault> =>
  fc.tuple(
    fc.constantFrom(...targets),
    // What a client is tempted to repeat comes most often.
    fc.oneof(...effects.map((arbitrary, index) => ({ weight: index < 3 ? 4 : 2, arbitrary }))),
    fc.constantFrom(1, 1, 2, 6)
  ).map(([target, effect, times]) => ({ ...target, ...effect, times }))

const fields: ReadonlyArray<string> = Object.keys(Latitude.defaults)

/** Any service that the document permits, in a form that shrinks to the fields that matter. */
const latitude: fc.Arbitrary<Latitude.Change> = fc.record({
  seed: fc.nat(),
  drawn: fc.oneof(
    { weight: 1, arbitrary: fc.constant<ReadonlyArray<string>>([]) },
    { weight: 2, arbitrary: fc.subarray([...fields]) },
    { weight: 1, arbitrary: fc.constant(fields) }
  )
}).map(({ drawn, seed }) => Object.fromEntries(Object.entries(Latitude.fromSeed(seed)).filter(([name]) => drawn.includes(name))))

const programOf = (write: fc.Arbitrary<Write>, targets: ReadonlyArray<Target>): fc.Arbitrary<Program> =>
  fc.record({
    latitude,
    seed: fc.nat(1_000),
    rateLimit: fc.constantFrom(allowance, allowance, 3),
    maxWaitSeconds: fc.constantFrom(300, 300, 20),
    retries: fc.constantFrom("as shipped" as const, "as shipped" as const, "once, at once" as const, "none" as const),
    steps: fc.array(
      fc.record({
        faults: fc.array(faultOn(targets), { maxLength: 4 }),
        others: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.array(otherCall, { maxLength: 2 }) }),
        calls: fc.array(callOf(write), { minLength: 1, maxLength: 5 }),
        pause: fc.constantFrom(0, 500, 20_000, 70_000)
      }),
      { minLength: 1, maxLength: 4 }
    )
  })

/** Programs of every write, and narrow ones in which calls get in each other's way. */
export const program: fc.Arbitrary<Program> = fc.oneof(
  { weight: 2, arbitrary: programOf(anyWrite, anyTarget) },
  { weight: 1, arbitrary: programOf(equalPost, [creating, creating, listing]) },
  { weight: 1, arbitrary: programOf(sameTarget, [shipping, stocking]) }
)
