/**
 * Everything that the interface can be asked for, with what does it: the contract's operations and, unless they are left
 * out, those that the document names without showing. Knows nothing of who may ask.
 *
 * @since 0.1.0
 */
import type { DocumentedError } from "@plaza/domain/Errors"
import { PlazaApiWithStories } from "@plaza/domain/PlazaApi"
import * as Effect from "effect/Effect"
import * as AssumedChat from "../areas/chat/AssumedChatHandlers.js"
import * as AssumedPosts from "../areas/posts/AssumedPostsHandlers.js"
import * as AssumedStore from "../areas/store/AssumedStoreHandlers.js"
import { AssumedApi } from "../AssumedApi.js"
import { Assumed } from "../Assumptions.js"
import * as Chat from "../areas/chat/ChatHandlers.js"
import type { AnyHandler, Decoded, HandlersOf } from "./Dispatch.js"
import { operationsOf } from "./Dispatch.js"
import type { Call } from "./Admission.js"
import * as Media from "../areas/media/MediaHandlers.js"
import * as Posts from "../areas/posts/PostsHandlers.js"
import * as Profiles from "../areas/profiles/ProfilesHandlers.js"
import { matcher } from "./Routes.js"
import * as Store from "../areas/store/StoreHandlers.js"
import * as Stories from "../areas/stories/StoriesHandlers.js"

// Compiling the schemas takes 10 ms and more, so it is done once for all sandboxes of a process, and when one needs it.
const once = <A>(make: () => A): () => A => {
  let made: A | undefined
  return () => made ??= make()
}
const matchDocumented = once(() => matcher(operationsOf(PlazaApiWithStories, "ignore")))
const matchAll = once(() =>
  matcher([...operationsOf(PlazaApiWithStories, "preserve"), ...operationsOf(AssumedApi, "preserve")])
)

const makeDocumented = Effect.gen(function*() {
  const handlers: HandlersOf<typeof PlazaApiWithStories, Call> = {
    ...(yield* Profiles.handlers),
    ...(yield* Media.handlers),
    ...(yield* Posts.handlers),
    ...(yield* Store.handlers),
    ...(yield* Chat.handlers),
    ...(yield* Stories.handlers)
  }
  return handlers
})

const makeAssumed = Effect.gen(function*() {
  const handlers: HandlersOf<typeof AssumedApi, Call> = {
    ...(yield* AssumedPosts.handlers),
    ...(yield* AssumedStore.handlers),
    ...(yield* AssumedChat.handlers)
  }
  return handlers
})

/** @since 0.1.0 @category constructors */
export const make = Effect.gen(function*() {
  const { undocumented } = yield* Assumed
  const handlers: Readonly<Record<string, AnyHandler<Call>>> = {
    ...(yield* makeDocumented),
    ...(undocumented ? yield* makeAssumed : {})
  }
  return {
    /** The operation that a method and a path mean. */
    match: undocumented ? matchAll() : matchDocumented(),
    /** Does an operation. */
    handle: (name: string, request: Decoded, call: Call): Effect.Effect<unknown, DocumentedError> => {
      const handler = handlers[name]
      return handler === undefined
        ? Effect.dieMessage(`no handler for ${name}`)
        // Decoded by the schemas of the operation that the handler was written for.
        : handler(request as never, call)
    }
  }
})
