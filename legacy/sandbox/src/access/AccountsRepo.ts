/**
 * The tables `accounts` and `relations`.
 *
 * @since 0.1.0
 */
import { AccessState } from "@plaza-legacy/domain/DeveloperAccess"
import { ProfileId, Username } from "@plaza-legacy/domain/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Sql } from "../storage/Sql.ts"
import * as SqlSchema from "../storage/SqlSchema.ts"
import { Availability } from "./Availability.ts"

/** @since 0.1.0 @category rows */
export const Account = Schema.Struct({
  id: ProfileId,
  username: Username,
  name: Schema.String,
  photo: SqlSchema.BooleanFromNumber,
  cover: SqlSchema.BooleanFromNumber,
  access: AccessState,
  availability: Availability
})
/** @since 0.1.0 @category rows */
export type Account = typeof Account.Type

/**
 * The relation of one account to another.
 *
 * @since 0.1.0
 * @category rows
 */
export const Relation = Schema.Struct({
  follows: SqlSchema.BooleanFromNumber,
  blocks: SqlSchema.BooleanFromNumber,
  /** Whether the first account has written to the second. */
  hasWritten: SqlSchema.BooleanFromNumber,
  /** Whether the store of the first account has blocked the second. */
  blocksFromStore: SqlSchema.BooleanFromNumber
})
/** @since 0.1.0 @category rows */
export type Relation = typeof Relation.Type

const noRelation: Relation = { follows: false, blocks: false, hasWritten: false, blocksFromStore: false }

const RelationOfTwo = Schema.Struct({ from: ProfileId, to: ProfileId, ...Relation.fields })

/** @since 0.1.0 @category constructors */
export const make = Effect.map(Sql, (sql) => {
  const findRelation = SqlSchema.findOne({
    Result: Relation,
    execute: (from: string, to: string) =>
      sql.first`SELECT follows, blocks, has_written AS hasWritten, blocks_from_store AS blocksFromStore
        FROM relations WHERE from_id = ${from} AND to_id = ${to}`
  })
  return {
    /** The sequence number of the next account. */
    nextSeq: SqlSchema.single({
      Result: SqlSchema.Seq,
      execute: () => sql.first`SELECT coalesce(max(seq), 0) + 1 AS seq FROM accounts`
    }),
    find: SqlSchema.findOne({
      Result: Account,
      execute: (id: string) => sql.first`SELECT * FROM accounts WHERE id = ${id}`
    }),
    findByUsername: SqlSchema.findOne({
      Result: Account,
      execute: (username: string) => sql.first`SELECT * FROM accounts WHERE username = ${username}`
    }),
    /** Accounts whose username has this prefix, ordered by username. */
    findByPrefix: SqlSchema.findAll({
      Result: Account,
      // Two bounds instead of LIKE, which would scan the table.
      execute: (prefix: string, limit: number) =>
        sql`SELECT * FROM accounts WHERE username >= ${prefix} AND username < ${`${prefix}\u{10FFFF}`}
          ORDER BY username LIMIT ${limit}`
    }),
    all: SqlSchema.findAll({ Result: Account, execute: () => sql`SELECT * FROM accounts ORDER BY seq` }),
    /** Whether an account has this id or this username. */
    isTaken: (id: string, username: string) =>
      Effect.map(sql.first`SELECT 1 FROM accounts WHERE id = ${id} OR username = ${username}`, (row) => row !== undefined),
    insert: ({ access, availability, cover, id, name, photo, seq, username }: Account & { readonly seq: number }) =>
      Effect.asVoid(
        sql`INSERT INTO accounts ${
          sql.insert({ seq, id, username, name, photo: Number(photo), cover: Number(cover), access, availability })
        }`
      ),
    setProfile: (id: string, { availability, cover, photo }: Pick<Account, "availability" | "cover" | "photo">) =>
      Effect.asVoid(sql`UPDATE accounts
        SET photo = ${Number(photo)}, cover = ${Number(cover)}, availability = ${availability} WHERE id = ${id}`),
    setAccess: (id: string, access: AccessState) => Effect.asVoid(sql`UPDATE accounts SET access = ${access} WHERE id = ${id}`),

    /** The relation of the first account to the second. */
    relation: (from: string, to: string) => Effect.map(findRelation(from, to), Option.getOrElse(() => noRelation)),
    allRelations: SqlSchema.findAll({
      Result: RelationOfTwo,
      execute: () =>
        sql`SELECT from_id AS "from", to_id AS "to", follows, blocks, has_written AS hasWritten,
            blocks_from_store AS blocksFromStore
          FROM relations ORDER BY from_id, to_id`
    }),
    setRelation: (from: string, to: string, { blocks, blocksFromStore, follows, hasWritten }: Relation) =>
      Effect.asVoid(sql`INSERT OR REPLACE INTO relations (from_id, to_id, follows, blocks, has_written, blocks_from_store)
        VALUES (${from}, ${to}, ${Number(follows)}, ${Number(blocks)}, ${Number(hasWritten)}, ${Number(blocksFromStore)})`),
    follow: (from: string, to: string) =>
      Effect.asVoid(sql`INSERT INTO relations (from_id, to_id, follows) VALUES (${from}, ${to}, 1)
        ON CONFLICT (from_id, to_id) DO UPDATE SET follows = 1`),
    /** Records that the first account has written to the second. */
    setHasWritten: (from: string, to: string) =>
      Effect.asVoid(sql`INSERT INTO relations (from_id, to_id, has_written) VALUES (${from}, ${to}, 1)
        ON CONFLICT (from_id, to_id) DO UPDATE SET has_written = 1`)
  }
})

/** @since 0.1.0 @category services */
export class AccountsRepo extends Context.Tag("@plaza-legacy/sandbox/AccountsRepo")<AccountsRepo, Effect.Effect.Success<typeof make>>() {}
