/**
 * Reading the messages of a conversation, which the document names without showing: what both sides wrote, whatever has
 * become of them since. Knows nothing of keys or limits.
 *
 * @since 0.1.0
 */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Chat from "./ChatHandlers.js"
import * as Lists from "../../storage/Lists.js"
import { Sql } from "../../storage/Sql.js"
import { CurrentCaller, toItsEnd } from "../../http/RequiresAdmission.js"
import { ServedAssumedApi } from "../../http/ServedApi.js"

/** @since 0.1.0 @category layers */
export const layer = HttpApiBuilder.group(ServedAssumedApi, "chat", (handlers) =>
  Effect.gen(function*() {
    const sql = yield* Sql
    const find = yield* Chat.makeFind
    const readPage = yield* Lists.makeReadPage

    return handlers
      .handle("listMessages", ({ path, urlParams }) =>
          Effect.gen(function*() {
          const { accountId } = yield* CurrentCaller
          const { peer_id } = yield* find(path.id, accountId)
          const pair = Chat.pairOf(accountId, peer_id)
          return yield* readPage({
            name: `messages of ${path.id}`,
            accountId,
            older: ([seq = Lists.newest], most) =>
              sql.list<Chat.MessageRow>`SELECT * FROM messages WHERE pair = ${pair} AND seq < ${seq}
                ORDER BY seq DESC LIMIT ${most}`,
            placeOf: ({ seq }) => [seq],
            item: (row) => Chat.messageFromRow(row, path.id)
          }, urlParams)
        }), toItsEnd)
  }))
