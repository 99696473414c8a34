/**
 * Handlers of the chat area: listing conversations and sending messages, and the assumed list of messages. Both sides see all messages,
 * also after a block.
 *
 * Source: interface v1, "Endpoints", conditional errors.
 */
import { ChatBlocked, ChatNotAllowed, UserUnavailable } from "@plaza/domain/Errors"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { AccountsRepo } from "../../access/AccountsRepo.ts"
import { CurrentAssumptions } from "../../Assumptions.ts"
import { CurrentCaller, InterfaceApi } from "../../InterfaceApi.ts"
import { CurrentLatitude } from "../../latitude/CurrentLatitude.ts"
import * as Stored from "../../latitude/Stored.ts"
import { Db } from "../../storage/Db.ts"
import { checkText, notFound } from "../../Validation.ts"
import { newest, Pagination } from "../Pagination.ts"
import { ChatRepo, pairOf } from "./ChatRepo.ts"

export const layer = HttpApiBuilder.group(InterfaceApi, "chat", (handlers) =>
  Effect.gen(function*() {
    const { transaction } = yield* Db
    const repo = yield* ChatRepo
    const accounts = yield* AccountsRepo
    const { readPage } = yield* Pagination
    const latitude = yield* CurrentLatitude
    const { maxTextLength } = yield* CurrentAssumptions

    /** A conversation of the caller. */
    const findOwn = Effect.fnUntraced(function*(id: string) {
      const { accountId } = yield* CurrentCaller
      return repo.findConversation(id, accountId) ?? (yield* notFound("conversation", id))
    })

    /** The anti-spam rule: only peers that have written to the caller or follow it can be written to. */
    const requireMayWrite = Effect.fnUntraced(function*(callerId: string, peerId: string) {
      const inward = accounts.relation(peerId, callerId)
      if (inward.blocks || accounts.relation(callerId, peerId).blocks) {
        return yield* new ChatBlocked({ message: "one side of the conversation has blocked the other" })
      }
      if (accounts.find(peerId)?.availability === "suspended") {
        return yield* new UserUnavailable({ message: `the user "${peerId}" is suspended` })
      }
      if (!inward.hasWritten && !inward.follows) {
        return yield* new ChatNotAllowed({ message: "the recipient has not written to this account and does not follow it" })
      }
    })

    return handlers.handleAll({
      listConversations: ({ query }) =>
        Effect.flatMap(CurrentCaller, ({ accountId }) =>
          readPage({
            name: "conversations",
            accountId,
            findOlder: ([seq = newest], limit) => repo.findOlderConversations(accountId, seq, limit),
            positionOf: ({ seq }) => [seq],
            toItem: ({ id, peerId }) => ({ id, peerId })
          }, query)),
      sendMessage: Effect.fnUntraced(function*({ params, payload: { text } }) {
        const { accountId } = yield* CurrentCaller
        yield* checkText("text", text, maxTextLength)
        const { peerId } = yield* findOwn(params.id)
        yield* requireMayWrite(accountId, peerId)
        const message = {
          conversationId: params.id,
          senderId: accountId,
          text: Stored.text(latitude.value, text),
          createdAt: yield* DateTime.now
        }
        const seq = repo.insertMessage(pairOf(accountId, peerId), message)
        // From now on the peer may write to the caller.
        accounts.setHasWritten(accountId, peerId)
        return { id: String(seq), ...message }
      }, transaction),

      listMessages: Effect.fnUntraced(function*({ params, query }) {
        const { accountId } = yield* CurrentCaller
        const pair = pairOf(accountId, (yield* findOwn(params.id)).peerId)
        return yield* readPage({
          name: `messages of ${params.id}`,
          accountId,
          findOlder: ([seq = newest], limit) => repo.findOlderMessages(pair, seq, limit),
          positionOf: ({ seq }) => [seq],
          // Each side sees a message in its own conversation.
          toItem: ({ seq, ...message }) => ({ ...message, id: String(seq), conversationId: params.id })
        }, query)
      })
    })
  }))
