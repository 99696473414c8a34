/**
 * Handlers of the chat area: listing conversations and sending messages.
 *
 * Source: interface v1, "Endpoints", conditional errors.
 *
 * @since 0.1.0
 */
import { ChatBlocked, ChatNotAllowed, UserUnavailable } from "@plaza-legacy/domain/Errors"
import { ChatGroup } from "@plaza-legacy/domain/PlazaApi"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { AccountsRepo } from "../../access/AccountsRepo.ts"
import { CurrentAssumptions } from "../../Assumptions.ts"
import * as Endpoints from "../../http/Endpoints.ts"
import * as Envelope from "../../http/Envelope.ts"
import { CurrentCaller } from "../../http/RequiresAdmission.ts"
import { servedInterface } from "../../http/ServedApi.ts"
import { CurrentLatitude } from "../../latitude/CurrentLatitude.ts"
import * as Stored from "../../latitude/Stored.ts"
import { newest, Pagination } from "../../storage/Pagination.ts"
import { Sql } from "../../storage/Sql.ts"
import { checkText } from "../Validation.ts"
import type { Message } from "./ChatRepo.ts"
import { ChatRepo, pairOf } from "./ChatRepo.ts"

/**
 * A message as a response shows it, in a conversation of the account that reads it.
 *
 * @since 0.1.0
 * @category conversions
 */
export const toMessage = ({ createdAt, senderId, seq, text }: Message, conversationId: string) => ({
  id: String(seq),
  conversationId,
  senderId,
  text,
  createdAt: DateTime.formatIso(createdAt)
})

/** @since 0.1.0 @category handlers */
export const group = Endpoints.group(servedInterface, ChatGroup, (handlers) =>
  Effect.gen(function*() {
    const { withTransaction } = yield* Sql
    const repo = yield* ChatRepo
    const accounts = yield* AccountsRepo
    const { readPage } = yield* Pagination
    const latitude = yield* CurrentLatitude
    const { maxTextLength } = yield* CurrentAssumptions

    /** The anti-spam rule: only peers that have written to the caller or follow it can be written to. */
    const requireMayWrite = (callerId: string, peerId: string) =>
      Effect.gen(function*() {
        const outward = yield* accounts.relation(callerId, peerId)
        const inward = yield* accounts.relation(peerId, callerId)
        if (outward.blocks || inward.blocks) {
          return yield* new ChatBlocked({ message: "one side of the conversation has blocked the other" })
        }
        const peer = yield* accounts.find(peerId)
        if (Option.exists(peer, ({ availability }) => availability === "suspended")) {
          return yield* new UserUnavailable({ message: `the user "${peerId}" is suspended` })
        }
        if (!inward.hasWritten && !inward.follows) {
          return yield* new ChatNotAllowed({
            message: "the recipient has not written to this account and does not follow it"
          })
        }
      })

    return handlers
      .handle("listConversations", ({ urlParams }) =>
        Effect.flatMap(CurrentCaller, ({ accountId }) =>
          readPage({
            name: "conversations",
            accountId,
            findOlder: ([seq = newest], limit) => repo.findOlderConversations(accountId, seq, limit),
            positionOf: ({ seq }) => [seq],
            toItem: ({ id, peerId }) => ({ id, peerId })
          }, urlParams)))
      .handle("sendMessage", ({ path, payload: { text } }) =>
        Effect.gen(function*() {
          const { accountId } = yield* CurrentCaller
          yield* checkText("text", text, maxTextLength)
          const conversation = yield* repo.findConversation(path.id, accountId)
          if (Option.isNone(conversation)) {
            return yield* Envelope.notFound("conversation", path.id)
          }
          const { peerId } = conversation.value
          yield* requireMayWrite(accountId, peerId)
          const message = {
            conversationId: path.id,
            senderId: accountId,
            text: Stored.text(latitude.value, text),
            createdAt: yield* DateTime.now
          }
          const seq = yield* repo.insertMessage(pairOf(accountId, peerId), message)
          // From now on the peer may write to the caller.
          yield* accounts.setHasWritten(accountId, peerId)
          return toMessage({ seq, ...message }, path.id)
        }).pipe(withTransaction))
  }))
