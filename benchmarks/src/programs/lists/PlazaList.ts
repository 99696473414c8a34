/** A list read by Plaza, item by item. */
import { Posts } from "@plaza/client"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { serve } from "./ListReader.js"
import { run } from "./PlazaReader.js"

serve({
  items: (baseUrl, onItem) =>
    run(baseUrl, Effect.flatMap(Posts, ({ list }) => Stream.runForEach(list(), (post) => Effect.sync(() => onItem(post))))),
  pages: (baseUrl, workMillis) =>
    run(baseUrl, Effect.flatMap(Posts, ({ pages }) => Stream.runForEach(pages(), () => Effect.sleep(workMillis))))
})
