/**
 * Accounts and how two of them stand to each other, as the areas need to know it. Knows nothing of requests.
 *
 * @since 0.1.0
 */
import type { AccessState } from "@plaza/domain/DeveloperAccess"
import { UserUnavailable } from "@plaza/domain/Errors"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { Assumed } from "../Assumptions.js"
import { Sql } from "../storage/Sql.js"
import type { Availability } from "../control/StateSnapshot.js"

/** @since 0.1.0 @category models */
export interface Account {
  readonly id: string
  readonly username: string
  readonly name: string
  readonly photo: boolean
  readonly cover: boolean
  readonly access: AccessState
  readonly availability: Availability
}

/**
 * What one account does to another.
 *
 * @since 0.1.0
 * @category models
 */
export interface Relation {
  readonly follows: boolean
  readonly blocks: boolean
  /** Whether the one has written to the other. */
  readonly hasWritten: boolean
  /** Whether the store of the one is closed to the other. */
  readonly blocksFromStore: boolean
}

/** @since 0.1.0 @category services */
export class Accounts extends Context.Tag("@plaza/sandbox/Accounts")<Accounts, {
  readonly find: (id: string) => Effect.Effect<Option.Option<Account>>
  readonly findByUsername: (username: string) => Effect.Effect<Option.Option<Account>>
  readonly relation: (from: string, to: string) => Effect.Effect<Relation>
  /** Refuses when the caller can't reach the account: it is suspended, or private, or one blocked the other. */
  readonly reach: (callerId: string, account: Account) => Effect.Effect<void, UserUnavailable>
}>() {}

/** @since 0.1.0 @category rows */
export interface AccountRow extends Omit<Account, "photo" | "cover"> {
  readonly photo: number
  readonly cover: number
}

/**
 * Reads a row of the table `accounts`.
 *
 * @since 0.1.0
 * @category rows
 */
export const fromRow = ({ access, availability, cover, id, name, photo, username }: AccountRow): Account => ({
  id,
  username,
  name,
  photo: photo === 1,
  cover: cover === 1,
  access,
  availability
})

/** @since 0.1.0 @category rows */
export interface RelationRow {
  readonly follows: number
  readonly blocks: number
  readonly has_written: number
  readonly blocks_from_store: number
}

/** @since 0.1.0 @category rows */
export const relationFromRow = (row: RelationRow | undefined): Relation => ({
  follows: row?.follows === 1,
  blocks: row?.blocks === 1,
  hasWritten: row?.has_written === 1,
  blocksFromStore: row?.blocks_from_store === 1
})

/** @since 0.1.0 @category layers */
export const layer: Layer.Layer<Accounts, never, Sql | Assumed> = Layer.effect(
  Accounts,
  Effect.map(Effect.all([Sql, Assumed]), ([sql, { privateVisibleToFollowers }]) => {
    const account = (row: AccountRow | undefined) => Option.map(Option.fromNullable(row), fromRow)
    const relation = (from: string, to: string) =>
      Effect.map(
        sql.first<RelationRow>`SELECT * FROM relations WHERE from_id = ${from} AND to_id = ${to}`,
        relationFromRow
      )
    return {
      find: (id) => Effect.map(sql.first<AccountRow>`SELECT * FROM accounts WHERE id = ${id}`, account),
      findByUsername: (username) =>
        Effect.map(sql.first<AccountRow>`SELECT * FROM accounts WHERE username = ${username}`, account),
      relation,
      reach: (callerId, { availability, id }) =>
        Effect.gen(function*() {
          if (callerId === id) {
            return
          }
          const there = yield* relation(callerId, id)
          const back = yield* relation(id, callerId)
          const reason = availability === "suspended"
            ? "is suspended"
            : there.blocks || back.blocks
            ? "is blocked, or has blocked this account"
            : availability === "private" && !(privateVisibleToFollowers && there.follows)
            ? "is private"
            : undefined
          if (reason !== undefined) {
            return yield* new UserUnavailable({ message: `the user "${id}" ${reason}` })
          }
        })
    }
  })
)
