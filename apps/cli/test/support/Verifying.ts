/** Runs `plaza verify` against a sandbox in process, in virtual time. */
import { Settings, TestTime } from "@plaza/client"
import { Latitude, Sandbox } from "@plaza/sandbox"
import { DateTime, Effect, Option, type Redacted } from "effect"
import type { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import type { Observation } from "../../src/verify/Observation.ts"
import * as Plan from "../../src/verify/Plan.ts"
import * as Report from "../../src/verify/Report.ts"
import * as Run from "../../src/verify/Run.ts"

/** Test objects of the seeded shop. */
export const objects: Plan.Objects = {
  product: "0042",
  order: "500001",
  conversation: "conv_301",
  user: "1005",
  post: undefined,
  stock: 5
}

export const settings = (apiKey: Redacted.Redacted, baseUrl: string) => Effect.fromResult(Settings.fromOptions({ apiKey, baseUrl }))

export interface Verified {
  readonly outcome: Run.Outcome
  readonly report: Report.Report
  readonly progress: ReadonlyArray<Observation>
}

/** Verifies the service of the client, with the key of the sandbox. */
export const verify = (
  write?: Plan.Objects,
  apiKey?: Redacted.Redacted,
  baseUrl?: string
): Effect.Effect<Verified, unknown, HttpClient.HttpClient | Sandbox.Sandbox> =>
  Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    const progress: Array<Observation> = []
    const outcome = yield* TestTime.advancing(Run.run({
      settings: yield* settings(apiKey ?? sandbox.apiKey, baseUrl ?? sandbox.baseUrl),
      plan: Plan.make(write),
      onProgress: ({ observation }) => Effect.sync(() => progress.push(observation)),
      onInterrupt: () => Effect.void
    }))
    return { outcome, report: Report.make(outcome), progress }
  })

// After the posts below, because a latitude may delay posts in lists.
const now = 1_750_000_000_000

/** Posts at moments that differ in their milliseconds, so that lists have an order and a precision. */
export const addPosts = (count: number) =>
  Effect.gen(function*() {
    yield* TestClock.setTime(now)
    const { createPost } = yield* Sandbox.Sandbox
    yield* Effect.forEach(
      Array.from({ length: count }, (_, index) => index),
      (index) => createPost({ text: `Caf\u00e9 / post ${index}`, createdAt: DateTime.makeUnsafe(1_700_000_000_000 + index * 61_237) }),
      { discard: true }
    )
  })

/** The latitude without what would only slow a test down or stop it. */
export const drawn = (seed: number): Latitude.Latitude => ({ ...Latitude.fromSeed(seed), dailyQuota: null })

export const contradicted = ({ rules }: Report.Report) =>
  rules.flatMap(({ detail, id, status }) => status === "contradicted" ? [`${id}: ${detail}`] : [])

export const statusOf = ({ rules }: Report.Report, id: string): string => rules.find((rule) => rule.id === id)?.status ?? `no rule ${id}`

export const stoppedBy = ({ outcome }: Verified): string | undefined =>
  Option.getOrUndefined(Option.map(outcome.stopped, ({ _tag }) => _tag))

/** The id of the oldest post of the shop. */
export const firstPost = Effect.flatMap(Sandbox.Sandbox, ({ state }) => Effect.map(state, ({ posts }) => posts[0]?.id))
