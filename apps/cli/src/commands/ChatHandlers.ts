/** What `plaza chat` does. */
import { Output } from "@plaza/cli-kit/Output"
import { Chat } from "@plaza/client"
import { ConversationId } from "@plaza/domain/Ids"
import * as Effect from "effect/Effect"
import * as Client from "./Client.ts"
import { listOptions } from "./Options.ts"
import * as Write from "./Write.ts"

export const list = Effect.fnUntraced(function*(paging: Parameters<typeof listOptions>[0]) {
  const chat = yield* Chat
  const output = yield* Output
  yield* output.list(chat.list(yield* listOptions(paging)), [{ head: "id", whole: true }], ({ id }) => [id], {
    empty: "The account has no conversations."
  })
}, Client.provide())

export const send = Effect.fnUntraced(function*({ conversation, text }: { readonly conversation: string; readonly text: string }) {
  const chat = yield* Chat
  const message = yield* Write.follow("sendMessage")(chat.send(ConversationId.make(conversation), text))
  const output = yield* Output
  yield* output.done(message, `The message is sent to conversation ${conversation}.`)
}, Client.provide())
