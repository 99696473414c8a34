/** The program of docs/guides/chat-rules.md. */
import { Chat } from "@plaza/client"
import type { ConversationId } from "@plaza/domain"
import { Effect } from "effect"

/** Sends a message where the recipient accepts it, and returns what to do with the conversation. */
export const sendIfAllowed = (conversation: ConversationId, text: string) =>
  Effect.flatMap(Chat, ({ send }) => send(conversation, text)).pipe(
    Effect.as("sent" as const),
    Effect.catchTags({
      // The person has neither written to the account nor follows it. Try again after either.
      ChatNotAllowed: () => Effect.succeed("wait for a message or a follow" as const),
      // One side has blocked the other.
      ChatBlocked: () => Effect.succeed("stop" as const),
      // The person is blocked, private or suspended.
      UserUnavailable: () => Effect.succeed("stop" as const),
      NotFound: () => Effect.succeed("forget the conversation" as const),
      // The message may have arrived. A second one could be a duplicate.
      OutcomeUnknown: () => Effect.succeed("look before you send again" as const)
    })
  )
