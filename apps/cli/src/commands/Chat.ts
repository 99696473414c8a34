/** `plaza chat`: conversations and messages. */
import * as Flags from "@plaza/cli-kit/Flags"
import * as Flag from "effect/cli/Flag"
import { command, group } from "./Definition.ts"
import { paging } from "./Options.ts"

const handlers = () => import("./ChatHandlers.ts")

const list = command(
  "list",
  { summary: "List the conversations of the account.", examples: ["chat list", "chat list --all --json"], output: "listConversations" },
  paging,
  () => handlers().then(({ list }) => list)
)

const send = command(
  "send",
  {
    summary: "Send a message.",
    details: ["Not retried if its outcome is unknown: the command then exits with 8."],
    examples: [`chat send conv_301 --text "Your order is on its way"`],
    output: "sendMessage"
  },
  {
    conversation: Flags.argument("CONVERSATION", "The id of the conversation."),
    text: Flags.text("text", "TEXT", "The text of the message.").pipe(Flag.withAlias("t"))
  },
  () => handlers().then(({ send }) => send)
)

export const chat = group("chat", { summary: "List conversations and send messages.", examples: ["chat list"] }, [list, send])
