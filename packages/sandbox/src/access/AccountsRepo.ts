/** The tables `accounts` and `relations`. */
import { AccessState } from "@plaza/domain/DeveloperAccess"
import { ProfileId, Username } from "@plaza/domain/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Db, insert } from "../storage/Db.ts"

/**
 * The availability of an account to others. The document states what makes a user unavailable ("blocked, private or
 * suspended"). Assumed: a private account stays visible to its followers.
 */
export const Availability = Schema.Literals(["available", "private", "suspended"])
export type Availability = typeof Availability.Type

export const Account = Schema.Struct({
  id: ProfileId,
  username: Username,
  name: Schema.String,
  photo: Schema.BooleanFromBit,
  cover: Schema.BooleanFromBit,
  access: AccessState,
  availability: Availability
})
export type Account = typeof Account.Type

/** The relation of one account to another. */
export const Relation = Schema.Struct({
  follows: Schema.BooleanFromBit,
  blocks: Schema.BooleanFromBit,
  /** Whether the first account has written to the second. */
  hasWritten: Schema.BooleanFromBit,
  /** Whether the store of the first account has blocked the second. */
  blocksFromStore: Schema.BooleanFromBit
})
export type Relation = typeof Relation.Type

const noRelation: Relation = { follows: false, blocks: false, hasWritten: false, blocksFromStore: false }

const RelationOfTwo = Schema.Struct({ from: ProfileId, to: ProfileId, ...Relation.fields })

export class AccountsRepo extends Context.Service<AccountsRepo>()("@plaza/sandbox/AccountsRepo", {
  make: Effect.map(Db, (db) => {
    const findRelation = (from: string, to: string) =>
      db.first(Relation)`SELECT follows, blocks, has_written AS hasWritten, blocks_from_store AS blocksFromStore
          FROM relations WHERE from_id = ${from} AND to_id = ${to}`
    return {
      /** The sequence number of the next account. */
      nextSeq: () => db.seq`SELECT coalesce(max(seq), 0) + 1 AS seq FROM accounts`,
      find: (id: string) => db.first(Account)`SELECT * FROM accounts WHERE id = ${id}`,
      findByUsername: (username: string) => db.first(Account)`SELECT * FROM accounts WHERE username = ${username}`,
      /** Accounts whose username has this prefix, ordered by username. */
      findByPrefix: (prefix: string, limit: number) =>
        // Two bounds instead of LIKE, which would scan the table.
        db.all(Account)`SELECT * FROM accounts WHERE username >= ${prefix} AND username < ${`${prefix}\u{10FFFF}`}
            ORDER BY username LIMIT ${limit}`,
      all: () => db.all(Account)`SELECT * FROM accounts ORDER BY seq`,
      /** Whether an account has this id or this username. */
      isTaken: (id: string, username: string) => db.exists`SELECT 1 FROM accounts WHERE id = ${id} OR username = ${username}`,
      insert: ({ access, availability, cover, id, name, photo, seq, username }: Account & { readonly seq: number }) =>
        db.run`INSERT INTO accounts ${
          insert({ seq, id, username, name, photo: Number(photo), cover: Number(cover), access, availability })
        }`,
      setProfile: (id: string, { availability, cover, photo }: Pick<Account, "availability" | "cover" | "photo">) =>
        db.run`UPDATE accounts
          SET photo = ${Number(photo)}, cover = ${Number(cover)}, availability = ${availability} WHERE id = ${id}`,
      setAccess: (id: string, access: AccessState) => db.run`UPDATE accounts SET access = ${access} WHERE id = ${id}`,

      /** The relation of the first account to the second. */
      relation: (from: string, to: string) => findRelation(from, to) ?? noRelation,
      allRelations: () =>
        db.all(RelationOfTwo)`SELECT from_id AS "from", to_id AS "to", follows, blocks, has_written AS hasWritten,
              blocks_from_store AS blocksFromStore
            FROM relations ORDER BY from_id, to_id`,
      setRelation: (from: string, to: string, { blocks, blocksFromStore, follows, hasWritten }: Relation) =>
        db.run`INSERT OR REPLACE INTO relations (from_id, to_id, follows, blocks, has_written, blocks_from_store)
          VALUES (${from}, ${to}, ${Number(follows)}, ${Number(blocks)}, ${Number(hasWritten)}, ${Number(blocksFromStore)})`,
      follow: (from: string, to: string) =>
        db.run`INSERT INTO relations (from_id, to_id, follows) VALUES (${from}, ${to}, 1)
          ON CONFLICT (from_id, to_id) DO UPDATE SET follows = 1`,
      /** Records that the first account has written to the second. */
      setHasWritten: (from: string, to: string) =>
        db.run`INSERT INTO relations (from_id, to_id, has_written) VALUES (${from}, ${to}, 1)
          ON CONFLICT (from_id, to_id) DO UPDATE SET has_written = 1`
    }
  })
}) {
  static readonly layer = Layer.effect(AccountsRepo, AccountsRepo.make)
}
