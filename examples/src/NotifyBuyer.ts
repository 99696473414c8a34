/** Sends a message once, and reports an unknown outcome instead of a failure. */
import { Chat, ClientError, FailureScope } from "@plaza/client"
import type { ConversationId } from "@plaza/domain"
import { Effect } from "effect"

/** Sends a message. After `unknown`, a person looks in the web app; the program doesn't send it again. */
export const notify = (conversation: ConversationId, text: string) =>
  Effect.flatMap(Chat, ({ send }) => Effect.as(send(conversation, text), "sent" as const)).pipe(
    Effect.catchIf(FailureScope.mayHaveHappened, () => Effect.succeed("unknown" as const)),
    ClientError.catchCategory("Forbidden", () => Effect.succeed("refused" as const))
  )
