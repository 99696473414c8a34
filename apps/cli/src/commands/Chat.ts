/** `plaza chat`: conversations and messages. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import { Chat } from "@plaza-legacy/client"
import { ConversationId } from "@plaza-legacy/domain/Ids"
import { describe } from "@plaza/cli-kit/Help"
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"
import { commonOptions, paging, text, withClient } from "./CommonOptions.ts"

const list = Command.make("list", { paging, ...commonOptions }, ({ paging, ...flags }) =>
  withClient(flags, Effect.gen(function*() {
    const chat = yield* Chat
    const output = yield* Output
    yield* output.list(chat.list(paging), [{ head: "id", whole: true }], ({ id }) => [id])
  }))).pipe(Command.withDescription(describe({
    summary: "List the conversations of the account.",
    examples: ["chat list", "chat list --all --json"]
  })))

const conversation = Args.text({ name: "CONVERSATION" }).pipe(Args.withDescription("The id of the conversation."))

const send = Command.make(
  "send",
  { conversation, text: text("text", "TEXT", "The text of the message."), ...commonOptions },
  ({ conversation, text, ...flags }) =>
    withClient(flags, Effect.gen(function*() {
      const chat = yield* Chat
      const message = yield* chat.send(ConversationId.make(conversation), text)
      const output = yield* Output
      yield* output.done(message, `The message is sent to conversation ${conversation}.`)
    }))
).pipe(Command.withDescription(describe({
  summary: "Send a message.",
  details: ["Not retried if its outcome is unknown: the command then exits with 8."],
  examples: [`chat send conv_301 --text "Your order is on its way"`]
})))

export const chat = Command.make("chat").pipe(
  Command.withDescription(describe({ summary: "List conversations and send messages.", examples: ["chat list"] })),
  Command.withSubcommands([list, send])
)
