/** The program of docs/guides/chat-rules.md, without Effect. */
import { isPlazaError, type Plaza } from "@plaza/sdk"

/** Sends a message where the recipient accepts it, and returns what to do with the conversation. */
export const sendIfAllowed = async (plaza: Plaza, conversation: string, text: string) => {
  try {
    await plaza.chat.send(conversation, text)
    return "sent"
  } catch (error) {
    if (!isPlazaError(error)) throw error
    // First: the message may have arrived, and a second one could be a duplicate.
    if (error.mayHaveHappened) return "look before you send again"
    if (error.category === "NotFound") return "forget the conversation"
    const code = "code" in error ? error.code : undefined
    // The person has neither written to the account nor follows it. Try again after either.
    if (code === "CHAT_NOT_ALLOWED") return "wait for a message or a follow"
    // One side has blocked the other, or the person is blocked, private or suspended.
    if (code === "CHAT_BLOCKED" || code === "USER_UNAVAILABLE") return "stop"
    // The key, the account, or a code that is newer than this program.
    throw error
  }
}
