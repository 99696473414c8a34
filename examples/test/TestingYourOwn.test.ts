import { expect, it } from "@effect/vitest"
import { Plaza, Posts, TestTime } from "@plaza/client"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Layer } from "effect"

const client = Layer.unwrap(
  Effect.map(Sandbox.Sandbox, ({ apiKey, baseUrl }) => Plaza.layer({ apiKey, baseUrl }))
)
const testLayer = Layer.provideMerge(client, Sandbox.layerHttpClient())

/** The application under test. */
const announce = Effect.flatMap(Posts, (posts) => posts.create({ text: "Back in stock." }))

it.effect("posts once when the service fails twice after it stored the post", () =>
  Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    const before = yield* sandbox.state
    yield* sandbox.addFault({ kind: "status", when: "after", status: 503, times: 2 })
    const post = yield* announce
    const { posts } = yield* sandbox.state
    expect(posts).toHaveLength(before.posts.length + 1)
    expect(posts.filter(({ text }) => text === "Back in stock.")).toMatchObject([{ id: post.id }])
  }).pipe(TestTime.advancing, Effect.provide(testLayer)))
