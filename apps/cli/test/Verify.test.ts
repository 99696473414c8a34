import { assert, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Effect } from "effect"
import { addPosts, contradicted, drawn, objects, verify } from "./support/Verifying.js"

for (const seed of Array.from({ length: 60 }, (_, i) => i * 7919)) {
  it.effect(`seed ${seed}`, () => {
    const latitude = drawn(seed)
    return Effect.gen(function*() {
      yield* addPosts(130)
      const { posts } = yield* (yield* Sandbox.Sandbox).state
      const { report, outcome } = yield* verify({ ...objects, post: posts[0]?.id })
      console.log(seed, contradicted(report), report.requests, outcome.stopped)
      if (seed === 1) console.log(JSON.stringify(report.learnt))
      for (const [name, value] of Object.entries(report.learnt.latitude)) {
        const set = (latitude as any)[name]
        if (JSON.stringify(set) !== JSON.stringify(value)) console.log("  differs", seed, name, value, set)
      }
    }).pipe(Effect.provide(Sandbox.layerHttpClient({ latitude })))
  })
}
