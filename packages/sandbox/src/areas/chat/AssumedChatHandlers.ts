/**
 * Reading the messages of a conversation, which the document names without showing: what both sides wrote, whatever has
 * become of them since. Knows nothing of keys or limits.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { AssumedChatGroup } from "../../AssumedApi.js"
import type { Assumed } from "../../Assumptions.js"
import * as Chat from "./ChatHandlers.js"
import type { Cursors } from "../../storage/Cursors.js"
import type { Handlers } from "../../http/Admission.js"
import type { CurrentLatitude } from "../../latitude/CurrentLatitude.js"
import * as Lists from "../../storage/Lists.js"
import { Sql } from "../../storage/Sql.js"

/** @since 0.1.0 @category handlers */
export const handlers: Effect.Effect<
  Handlers<typeof AssumedChatGroup>,
  never,
  Sql | Assumed | Cursors | CurrentLatitude
> = Effect.gen(function*() {
  const sql = yield* Sql
  const find = yield* Chat.makeFind
  const readPage = yield* Lists.makeReadPage

  return {
    listMessages: ({ path, urlParams }, { caller: { accountId } }) =>
      Effect.gen(function*() {
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
      })
  }
})
