/** A list read by the client, item by item or page by page. */
import { Posts } from "@plaza/client"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { clientOf } from "../Client.ts"
import { serve } from "./ListReader.ts"

const run = <E>(baseUrl: string, program: Effect.Effect<void, E, Posts>) => Effect.runPromise(Effect.provide(program, clientOf(baseUrl)))

serve({
  items: (baseUrl, onItem) =>
    run(baseUrl, Effect.flatMap(Posts, ({ list }) => Stream.runForEach(list(), (post) => Effect.sync(() => onItem(post))))),
  pages: (baseUrl, workMillis) =>
    run(baseUrl, Effect.flatMap(Posts, ({ pages }) => Stream.runForEach(pages(), () => Effect.sleep(workMillis))))
})
