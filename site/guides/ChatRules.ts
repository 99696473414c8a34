/** The program of docs/guides/chat-rules.md. */
import { Chat, ClientError, FailureScope } from "@plaza/client"
import type { ConversationId } from "@plaza/domain"
import { Effect } from "effect"

/** Sends a message where the recipient accepts it, and returns what to do with the conversation. */
export const sendIfAllowed = (conversation: ConversationId, text: string) =>
  Effect.flatMap(Chat, ({ send }) => send(conversation, text)).pipe(
    Effect.as("sent" as const),
    // First: the message may have arrived, and a second one could be a duplicate.
    Effect.catchIf(FailureScope.mayHaveHappened, () => Effect.succeed("look before you send again" as const)),
    ClientError.catchCategory("NotFound", () => Effect.succeed("forget the conversation" as const)),
    ClientError.catchCategory("Forbidden", (failure) => {
      // The person has neither written to the account nor follows it. Try again after either.
      if (failure.code === "CHAT_NOT_ALLOWED") return Effect.succeed("wait for a message or a follow" as const)
      // One side has blocked the other, or the person is blocked, private or suspended.
      if (failure.code === "CHAT_BLOCKED" || failure.code === "USER_UNAVAILABLE") return Effect.succeed("stop" as const)
      // The key, the account, or a code that is newer than this program.
      return Effect.as(Effect.logError("chat.not_allowed", failure), "not allowed" as const)
    })
  )
