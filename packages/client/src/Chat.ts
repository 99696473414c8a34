/**
 * Conversations and messages.
 *
 * @since 0.1.0
 */
import type { ConversationId } from "@plaza/domain/Ids"
import { Conversation } from "@plaza/domain/Resources"
import type { Message, Page } from "@plaza/domain/Resources"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Stream from "effect/Stream"
import type { CallFailure } from "./ClientError.ts"
import type { FailureOf } from "./internal/contract/Contract.ts"
import { layerOf, Operations } from "./internal/contract/Operations.ts"
import * as Pagination from "./internal/contract/Pagination.ts"
import type { ListOptions } from "./internal/contract/Pagination.ts"
import { validateText } from "./internal/contract/validateText.ts"

/**
 * Lists conversations and sends messages.
 *
 * @since 0.1.0
 * @category services
 */
export class Chat extends Context.Service<Chat, {
  /**
   * The account's conversations as a stream. It fetches the next page while the program consumes the current one.
   * Source: interface v1, "Endpoints", GET /conversations.
   */
  readonly list: (options?: ListOptions) => Stream.Stream<Conversation, Chat.ListFailure>
  /** The same list as a stream of pages, with the cursor after each page. */
  readonly pages: (
    options?: ListOptions
  ) => Stream.Stream<Page<Conversation>, Chat.ListFailure>
  /**
   * Sends a message. Once: the client doesn't send the request again after an ambiguous failure, and the call fails with
   * `OutcomeUnknown`. Fails with `InvalidInput`, without a request, for an empty text, and with `ChatNotAllowed` or `ChatBlocked`
   * where the recipient doesn't accept messages.
   * Source: interface v1, "Endpoints", POST /conversations/{id}/messages.
   *
   * @example
   * import { Chat } from "@plaza/client"
   * import { ConversationId } from "@plaza/domain"
   * import { Effect } from "effect"
   *
   * const program = Effect.flatMap(Chat, ({ send }) => send(ConversationId.make("conv_301"), "Your order is on its way."))
   * // => { text: "Your order is on its way." }
   */
  readonly send: (id: ConversationId, text: string) => Effect.Effect<Message, Chat.SendFailure>
}>()("@plaza/client/Chat") {}

/**
 * The failures of each operation.
 *
 * @since 0.1.0
 * @category models
 */
export declare namespace Chat {
  /** The failures of `list` and `pages`. */
  export type ListFailure = FailureOf<"listConversations"> | Pagination.ListFailure
  /** The failures of `send`. */
  export type SendFailure = FailureOf<"sendMessage"> | CallFailure
}

/** Creates the service of {@link Chat} for `Plaza.layer`. @since 0.1.0 @category constructors */
export const make: Effect.Effect<Chat["Service"], never, Operations> = Effect.map(Operations, ({ send, sendPage }) => {
  const readPage = sendPage("listConversations", Conversation)
  const pages = (options?: ListOptions) => Pagination.pages("listConversations", readPage, options)
  return {
    list: (options) => Pagination.items(pages(options)),
    pages,
    send: (id, text) =>
      Effect.andThen(
        validateText(text),
        send("sendMessage", { path: { id }, payload: { text } }, { whenEmpty: () => ({ text }) })
      )
  }
})

/**
 * The service {@link Chat} alone, on `Plaza.layerOperations`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<Chat, never, Operations> = /*#__PURE__*/ layerOf(Chat, make)
