/**
 * The seeded data of a new sandbox: a shop with products, orders, posts and conversations, and the accounts around it. The
 * same seed gives the same rows, with times relative to the time of seeding.
 */
import { ProfileId } from "@plaza/domain/Ids"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { hash } from "node:crypto"
import type { Relation } from "../access/AccountsRepo.ts"
import * as Keys from "../access/Keys.ts"
import { KeysRepo } from "../access/KeysRepo.ts"
import * as Chat from "../areas/chat/ChatRepo.ts"
import * as MediaRepo from "../areas/media/MediaRepo.ts"
import * as Posts from "../areas/posts/PostsRepo.ts"
import { allScopes } from "../Assumptions.ts"
import * as Generator from "../Generator.ts"
import { Db, type Fragment, insert, type Row } from "../storage/Db.ts"
import { MetaRepo } from "../storage/MetaRepo.ts"
import { catalogue } from "./SeedCatalogue.ts"
import type { NewAccount } from "./SeedingModels.ts"

/** The number of the first account id. */
export const firstAccountNumber = 1001

/** The account of the seeded key: a shop with a photo, a cover and all scopes. */
export const shopId = String(firstAccountNumber)

interface Person extends NewAccount {
  readonly username: string
  readonly name: string
  /** Their relation to the shop. */
  readonly toShop?: Partial<Relation>
  /** The shop's relation to them. */
  readonly fromShop?: Partial<Relation>
  /** Whether the shop has a conversation with them. */
  readonly chats?: true
}

const people: ReadonlyArray<Person> = [
  { username: "corner-shop", name: "The Corner Shop" },
  { username: "ana.ruiz", name: "Ana Ruiz", toShop: { hasWritten: true }, fromShop: { hasWritten: true }, chats: true },
  { username: "b_okafor", name: "Ben Okafor", toShop: { follows: true }, chats: true },
  { username: "chloe", name: "Chloé Martin", toShop: { follows: true, hasWritten: true }, fromShop: { follows: true }, chats: true },
  { username: "dmitri77", name: "Dmitri", toShop: { hasWritten: true }, chats: true },
  { id: "007", username: "emi", name: "えみ", toShop: { follows: true }, chats: true },
  // Neither wrote nor follows, so the anti-spam rule refuses messages of the shop.
  { username: "farid", name: "Farid", fromShop: { follows: true }, chats: true },
  { username: "greta", name: "Greta Lindqvist", toShop: { hasWritten: true, blocks: true }, chats: true },
  { username: "hank", name: "Hank", toShop: { hasWritten: true, follows: true }, fromShop: { blocks: true }, chats: true },
  { username: "ines", name: "Inês", availability: "private" },
  { username: "jonas", name: "Jonas", availability: "suspended", toShop: { follows: true } },
  { username: "tea-and-tide", name: "Tea & Tide" },
  { username: "kiosk-17", name: "Kiosk 17", toShop: { blocksFromStore: true } }
]

const idOf = (index: number): string => people[index]?.id ?? String(firstAccountNumber + index)
const idByUsername = (username: string): string => idOf(people.findIndex((person) => person.username === username))

/** Two stores of other accounts; the second one has blocked the shop. */
const otherStores = [
  { accountId: idByUsername("tea-and-tide"), productId: "TIDE-TIN-01", orderId: "T-1" },
  { accountId: idByUsername("kiosk-17"), productId: "K17-GUM", orderId: "K-1" }
]

const texts = [
  "New mugs are in, straight from the kiln.",
  "Open until eight today.",
  "First flush Darjeeling has arrived.",
  "What should we roast next?",
  "Small batch candles, back in stock.",
  "Closed on Monday for the stocktaking.",
  "Gift wrapping is free this week.",
  "The blue ones are selling fast.",
  "Thank you for five hundred orders!",
  "Rain outside, tea inside."
]
const shopPosts = 25
const orders = 30
const postInterval = Duration.toMillis("6 hours")

/** The row of an account. */
export const accountRow = (
  { access = "granted", availability = "available", cover = true, id, name, photo = true, seq, username }:
    & NewAccount
    & { readonly id: string; readonly seq: number; readonly username: string; readonly name: string }
) => ({ seq, id, username, name, photo: photo ? 1 : 0, cover: cover ? 1 : 0, access, availability })

/** The row of the relation of one account to another. */
export const relationRow = (from: string, to: string, relation: Partial<Relation>) => ({
  from_id: from,
  to_id: to,
  follows: relation.follows === true ? 1 : 0,
  blocks: relation.blocks === true ? 1 : 0,
  has_written: relation.hasWritten === true ? 1 : 0,
  blocks_from_store: relation.blocksFromStore === true ? 1 : 0
})

/** Order ids as shops number them: most look like numbers, some start with zeros, some are hard to put in a path. */
const orderId = (number: number): string =>
  number <= 20
    ? String(500_000 + number)
    : number <= 25
    ? String(number).padStart(6, "0")
    : number <= 28
    ? `SO/2026/${number}`
    : `#${1000 + number}`

/** What is the same for every seed, once for all sandboxes of a process. */
interface Fixed {
  readonly accounts: Fragment
  readonly relations: Fragment
  readonly conversations: Fragment
  readonly media: Fragment
  readonly orders: Fragment
}

let fixed: Fixed | undefined

const makeFixed = (): Fixed => {
  const picture = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect width="1" height="1"/></svg>`)
  return {
    accounts: insert(people.map((person, index) => accountRow({ ...person, id: idOf(index), seq: index + 1 }))),
    relations: insert(people.flatMap(({ fromShop, toShop }, index) => [
      ...(toShop === undefined ? [] : [relationRow(idOf(index), shopId, toShop)]),
      ...(fromShop === undefined ? [] : [relationRow(shopId, idOf(index), fromShop)])
    ])),
    conversations: insert(
      people.flatMap(({ chats }, index) => chats === true ? [idOf(index)] : []).map((peer, index) => ({
        seq: index + 1,
        id: Chat.idOf(index + 1),
        account_id: shopId,
        peer_id: peer
      }))
    ),
    media: insert({
      id: "media-000001",
      account_id: shopId,
      name: "front.svg",
      content_type: "image/svg+xml",
      size: picture.length,
      sha256: hash("sha256", picture),
      // Nothing reads the bytes, and a file would take most of the time of a start.
      file: MediaRepo.noFile
    }),
    orders: insert([
      ...Array.from({ length: orders }, (_, index) => ({ id: orderId(index + 1), account_id: shopId })),
      ...otherStores.map((store) => ({ id: store.orderId, account_id: store.accountId }))
    ])
  }
}

const postRows = ({ between: draw }: Generator.Generator, now: number): ReadonlyArray<Row> => {
  const authors = [...people.keys()].slice(1).map(idOf)
  const written = [...authors, ...Array.from({ length: shopPosts }, () => shopId)]
  return written.map((author, index) => {
    const jitter = draw(0, postInterval / 2)
    return {
      seq: index + 1,
      id: Posts.idOf(index + 1),
      account_id: author,
      text: texts[draw(0, texts.length)] ?? "",
      media_ids: JSON.stringify(index === written.length - 1 ? ["media-000001"] : []),
      created_at: now - (written.length - index) * postInterval + jitter
    }
  })
}

const productRows = ({ between: draw }: Generator.Generator): ReadonlyArray<Row> => [
  // One in ten is sold out.
  ...catalogue.map(([id, name]) => ({ id, account_id: shopId, name, stock: draw(0, 10) === 0 ? 0 : draw(1, 80) })),
  ...otherStores.map(({ accountId, productId }) => ({ id: productId, account_id: accountId, name: productId, stock: 10 }))
]

/** Inserts the seeded data into empty tables. */
export const make = Effect.gen(function*() {
  const db = yield* Db
  const keys = yield* KeysRepo
  const meta = yield* MetaRepo
  return (seed: number): Effect.Effect<void> =>
    Effect.map(DateTime.now, (now) => {
      const { accounts, conversations, media, orders, relations } = fixed ??= makeFixed()
      const random = Generator.make(seed)
      meta.set("seed", String(seed))
      db.run`INSERT INTO accounts ${accounts}`
      db.run`INSERT INTO relations ${relations}`
      db.run`INSERT INTO conversations ${conversations}`
      keys.insert(Keys.row({
        id: "k1",
        accountId: ProfileId.make(shopId),
        name: "seeded",
        value: Keys.seeded(seed),
        scopes: allScopes,
        createdAt: now
      }))
      db.run`INSERT INTO media ${media}`
      // The order of the draws decides what a seed gives.
      db.run`INSERT INTO posts ${insert(postRows(random, DateTime.toEpochMillis(now)))}`
      db.run`INSERT INTO products ${insert(productRows(random))}`
      db.run`INSERT INTO orders ${orders}`
    })
})
