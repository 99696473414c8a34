/** `plaza chat`: conversations and messages. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import { about } from "@plaza/cli-kit/Help"
import { Output } from "@plaza/cli-kit/Output"
import { ConversationId } from "@plaza/domain/Ids"
import * as Effect from "effect/Effect"
import { connect } from "../Connection.js"
import { flags, limitOf, paging, text, withOutput } from "../Flags.js"

const list = Command.make("list", { ...paging, ...flags }, ({ all, limit, ...flags }) =>
  withOutput(flags, Effect.gen(function*() {
    const wanted = yield* limitOf({ limit, all })
    const { chat } = yield* connect(flags)
    const output = yield* Output
    yield* output.list(chat.list(wanted), [{ head: "id", whole: true }], ({ id }) => [id])
  }))).pipe(Command.withDescription(about("List the account's conversations.", "chat list --all")))

const conversation = Args.text({ name: "CONVERSATION" }).pipe(Args.withDescription("The id of the conversation."))

const send = Command.make(
  "send",
  { conversation, text: text("text", "TEXT", "The text of the message."), ...flags },
  ({ conversation, text, ...flags }) =>
    withOutput(flags, Effect.gen(function*() {
      const { chat } = yield* connect(flags)
      const message = yield* chat.send(ConversationId.make(conversation), text)
      const output = yield* Output
      yield* output.done(message, `Sent to conversation ${conversation}.`)
    }))
).pipe(
  Command.withDescription(
    about("Send a message. It is not sent again after a failure that leaves its outcome open.",
      `chat send conv_301 --text "It is on its way"`)
  )
)

export const chat = Command.make("chat").pipe(
  Command.withDescription(about("List conversations and send messages.", "chat list")),
  Command.withSubcommands([list, send])
)
