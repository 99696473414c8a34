/**
 * A list read by Plaza on undici.
 *
 * @since 0.1.0
 */
import { Plaza, Posts } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { apiKey } from "../apiKey.js"
import { serve } from "./caller.js"

const run = <A, E>(baseUrl: string, program: Effect.Effect<A, E, Posts>): Promise<A> => {
  const client = Plaza.layer({ baseUrl, apiKey: Redacted.make(apiKey), rateLimit: 10_000_000 })
  return Effect.runPromise(Effect.provide(program, Layer.provide(client, NodeClient.layer)))
}

serve({
  items: (baseUrl, onItem) =>
    run(baseUrl, Effect.flatMap(Posts, ({ list }) => Stream.runForEach(list(), (post) => Effect.sync(() => onItem(post))))),
  pages: (baseUrl, workMillis) =>
    run(baseUrl, Effect.flatMap(Posts, ({ pages }) => Stream.runForEach(pages(), () => Effect.sleep(workMillis))))
})
