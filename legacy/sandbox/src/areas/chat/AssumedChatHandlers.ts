/**
 * Handler of reading the messages of a conversation, which the document names but does not show. Both sides see all messages,
 * also after a block.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { AssumedChatGroup } from "../../AssumedApi.ts"
import * as Endpoints from "../../http/Endpoints.ts"
import * as Envelope from "../../http/Envelope.ts"
import { CurrentCaller } from "../../http/RequiresAdmission.ts"
import { servedInterface } from "../../http/ServedApi.ts"
import { newest, Pagination } from "../../storage/Pagination.ts"
import { toMessage } from "./ChatHandlers.ts"
import { ChatRepo, pairOf } from "./ChatRepo.ts"

/** @since 0.1.0 @category handlers */
export const group = Endpoints.group(servedInterface, AssumedChatGroup, (handlers) =>
  Effect.gen(function*() {
    const repo = yield* ChatRepo
    const { readPage } = yield* Pagination

    return handlers
      .handle("listMessages", ({ path, urlParams }) =>
        Effect.gen(function*() {
          const { accountId } = yield* CurrentCaller
          const conversation = yield* repo.findConversation(path.id, accountId)
          if (Option.isNone(conversation)) {
            return yield* Envelope.notFound("conversation", path.id)
          }
          const pair = pairOf(accountId, conversation.value.peerId)
          return yield* readPage({
            name: `messages of ${path.id}`,
            accountId,
            findOlder: ([seq = newest], limit) => repo.findOlderMessages(pair, seq, limit),
            positionOf: ({ seq }) => [seq],
            toItem: (message) => toMessage(message, path.id)
          }, urlParams)
        }))
  }))
