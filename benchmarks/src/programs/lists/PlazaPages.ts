/** A list read by Plaza, page by page. */
import { Posts } from "@plaza/client"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { serve } from "./ListReader.js"
import { run } from "./PlazaReader.js"

serve({
  items: (baseUrl, onItem) =>
    run(baseUrl, Effect.flatMap(Posts, ({ pages }) => Stream.runForEach(pages(), ({ data }) => Effect.sync(() => data.forEach(onItem))))),
  pages: (baseUrl, workMillis) =>
    run(baseUrl, Effect.flatMap(Posts, ({ pages }) => Stream.runForEach(pages(), () => Effect.sleep(workMillis))))
})
