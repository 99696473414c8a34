/**
 * Queries that the seeding of every area needs.
 *
 * @since 0.1.0
 */
import type { NotFound } from "@plaza/domain/Errors"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Account } from "../access/Accounts.js"
import { Accounts } from "../access/Accounts.js"
import * as Envelope from "../http/Envelope.js"
import { Sql } from "../storage/Sql.js"

/**
 * The maximum length of an id or a name, in characters.
 *
 * @since 0.1.0
 * @category constants
 */
export const maxIdLength = 500

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<{
  /** Finds an account or fails with `NotFound`. */
  readonly getAccount: (accountId: string) => Effect.Effect<Account, NotFound>
  /** The next free `seq` of a table. */
  readonly nextSeq: (table: "accounts" | "conversations") => Effect.Effect<number>
}, never, Sql | Accounts> = Effect.gen(function*() {
  const sql = yield* Sql
  const accounts = yield* Accounts
  return {
    getAccount: (accountId) =>
      Effect.flatMap(accounts.find(accountId), Option.match({
        onNone: () => Effect.fail(Envelope.notFound("account", accountId)),
        onSome: Effect.succeed
      })),
    nextSeq: (table) =>
      Effect.map(
        sql<{ readonly seq: number }>`SELECT coalesce(max(seq), 0) + 1 AS seq FROM ${sql.literal(table)}`,
        ([row]) => row?.seq ?? 1
      )
  }
})
