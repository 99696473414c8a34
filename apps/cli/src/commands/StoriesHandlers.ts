/** What `plaza stories` does. */
import { Output } from "@plaza/cli-kit/Output"
import { Stories } from "@plaza/client"
import * as Effect from "effect/Effect"
import * as Client from "./Client.ts"
import * as Input from "./Input.ts"
import * as Write from "./Write.ts"

export const create = Effect.fnUntraced(function*({ input }: { readonly input: string }) {
  const story = yield* Input.jsonObject(input)
  const created = yield* Client.provide()(Effect.flatMap(Stories, (stories) => Write.follow("createStory")(stories.create(story))))
  const output = yield* Output
  yield* created === undefined ? output.done(null, "The story is created.") : output.value(created)
})
