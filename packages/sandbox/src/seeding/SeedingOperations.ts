/**
 * The seeding operations: accounts, keys, relations, products, orders, posts and conversations, in addition to what the
 * interface can create. They fail with the errors of the interface.
 */
import { Conflict, NotFound, ValidationError } from "@plaza/domain/Errors"
import { ConversationId, MediaId, OrderId, PostId, ProductId, ProfileId, Username } from "@plaza/domain/Ids"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { AccessRequests } from "../access/AccessRequests.ts"
import type { Account, Relation } from "../access/AccountsRepo.ts"
import { AccountsRepo } from "../access/AccountsRepo.ts"
import { Keys } from "../access/Keys.ts"
import * as Chat from "../areas/chat/ChatRepo.ts"
import { PostsPolicy } from "../areas/posts/PostsPolicy.ts"
import * as Posts from "../areas/posts/PostsRepo.ts"
import { StoreRepo } from "../areas/store/StoreRepo.ts"
import { CurrentAssumptions } from "../Assumptions.ts"
import { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import * as Stored from "../latitude/Stored.ts"
import { isConflict } from "../storage/Database.ts"
import { Db } from "../storage/Db.ts"
import { checkStock, checkText, unknown } from "../Validation.ts"
import type { Fixtures } from "./Fixtures.ts"
import * as Generate from "./GenerateFixtures.ts"
import * as SeedData from "./SeedData.ts"
import type * as Models from "./SeedingModels.ts"

/** The maximum length of an id or a name, in characters. */
const maxIdLength = 500

/** Why an item can't be seeded. */
export type SeedingError = NotFound | Conflict | ValidationError

/** Prefixes the field of an error with the path of its item in the fixtures. */
const withPath = (path: string) => (error: SeedingError): SeedingError => {
  const { details, message } = error
  const field = typeof details["field"] === "string" ? `${path}.${details["field"]}` : path
  // The message of an invalid field begins with its name.
  const fields = { message: message.replace(`"${String(details["field"])}"`, `"${field}"`), details: { ...details, field } }
  switch (error._tag) {
    case "NotFound":
      return new NotFound(fields)
    case "Conflict":
      return new Conflict(fields)
    case "ValidationError":
      return new ValidationError(fields)
  }
}

const each = <A>(list: string, items: ReadonlyArray<A> = [], insert: (item: A) => Effect.Effect<unknown, SeedingError>) =>
  Effect.forEach(items, (item, index) => Effect.mapError(insert(item), withPath(`${list}.${index}`)), { discard: true })

/** The operations on one item, and on fixtures of a sandbox with a seed. `accountId` defaults to the seeded shop. */
const makeItems = Effect.gen(function*() {
  const { transaction } = yield* Db
  const accounts = yield* AccountsRepo
  const store = yield* StoreRepo
  const chat = yield* Chat.ChatRepo
  const posts = yield* Posts.PostsRepo
  const { checkFields } = yield* PostsPolicy
  const latitude = yield* CurrentLatitude
  const { maxShippingFieldLength, maxStock, maxTextLength } = yield* CurrentAssumptions
  const generate = yield* Generate.make

  const getAccount = (accountId: string): Effect.Effect<Account, NotFound> => {
    const account = accounts.find(accountId)
    return account === undefined ? Effect.fail(unknown("account", accountId)) : Effect.succeed(account)
  }

  const usernameOf = (id: string) => `user-${id}`

  /** The next number that is free both as an id and in a username. */
  const freeId = (first: number): string => {
    let number = first
    while (accounts.isTaken(String(number), usernameOf(String(number)))) {
      number++
    }
    return String(number)
  }

  const createAccount = Effect.fnUntraced(function*(account: Models.NewAccount) {
    const seq = accounts.nextSeq()
    const id = account.id ?? Stored.id(latitude.value, "user", seq, freeId(SeedData.firstAccountNumber + seq - 1))
    const username = account.username ?? usernameOf(id)
    const name = account.name ?? username
    yield* checkText("id", id, maxIdLength)
    yield* checkText("username", username, maxIdLength)
    yield* checkText("name", name, maxIdLength)
    if (accounts.isTaken(id, username)) {
      return yield* new Conflict({ message: `there is an account with the id "${id}" or the username "${username}"` })
    }
    const { access = "granted", availability = "available", cover = true, photo = true } = account
    const created = { id: ProfileId.make(id), username: Username.make(username) }
    accounts.insert({ seq, ...created, name, photo, cover, access, availability })
    return created
  }, transaction)

  const items = {
    /** Creates an account. By default it has a photo, a cover and granted access. */
    createAccount: (account: Models.NewAccount = {}) => createAccount(account),

    /** Changes the photo, the cover and the availability of an account. */
    setProfile: Effect.fnUntraced(function*(accountId: string, change: Models.ProfileChange) {
      accounts.setProfile(accountId, { ...(yield* getAccount(accountId)), ...change })
    }, transaction),

    /** Changes the relation of the first account to the second. Omitted fields keep their value. */
    setRelation: Effect.fnUntraced(function*(from: string, to: string, change: Partial<Relation>) {
      yield* getAccount(from)
      yield* getAccount(to)
      accounts.setRelation(from, to, { ...accounts.relation(from, to), ...change })
    }, transaction),

    /** Creates a product of a store, or replaces the one with this id. */
    setProduct: Effect.fnUntraced(function*({ accountId = SeedData.shopId, id, name = id, stock = 0 }: Models.NewProduct) {
      yield* checkText("id", id, maxIdLength)
      yield* checkText("name", name, maxIdLength)
      yield* checkStock("stock", stock, maxStock)
      yield* getAccount(accountId)
      store.upsertProduct({ id, accountId, name, stock })
      return ProductId.make(id)
    }, transaction),

    /** Creates an order (default: not shipped), or replaces the one with this id. */
    setOrder: Effect.fnUntraced(function*({ accountId = SeedData.shopId, id, shipment }: Models.NewOrder) {
      yield* checkText("id", id, maxIdLength)
      yield* getAccount(accountId)
      if (shipment !== undefined) {
        yield* checkText("shipment.carrier", shipment.carrier, maxShippingFieldLength)
        yield* checkText("shipment.trackingNumber", shipment.trackingNumber, maxShippingFieldLength)
      }
      const shippedAt = shipment === undefined ? null : yield* Clock.currentTimeMillis
      store.upsertOrder({ id, accountId, shipment, shippedAt })
      return OrderId.make(id)
    }, transaction),

    /** Creates a post of an account. */
    createPost: Effect.fnUntraced(function*({ accountId = SeedData.shopId, createdAt, mediaIds = [], text }: Models.NewPost) {
      const author = yield* getAccount(accountId)
      yield* checkFields({ text, mediaIds }, accountId)
      const seq = posts.nextSeq()
      const id = PostId.make(Stored.id(latitude.value, "post", seq, Posts.idOf(seq)))
      posts.insert({
        seq,
        id,
        authorId: author.id,
        text,
        mediaIds: mediaIds.map((mediaId) => MediaId.make(mediaId)),
        createdAt: createdAt ?? (yield* DateTime.now)
      })
      return id
    }, transaction),

    /** Creates a conversation between two accounts. */
    createConversation: Effect.fnUntraced(function*({ accountId = SeedData.shopId, messages = [], peerId }: Models.NewConversation) {
      const account = yield* getAccount(accountId)
      const peer = yield* getAccount(peerId)
      const seq = chat.nextConversationSeq()
      const id = ConversationId.make(Stored.id(latitude.value, "conversation", seq, Chat.idOf(seq)))
      chat.insertConversation({ seq, id, accountId: account.id, peerId: peer.id })
      for (const [index, { isOwn = false, text }] of messages.entries()) {
        yield* checkText(`messages.${index}.text`, text, maxTextLength)
        const [sender, recipient] = isOwn ? [account, peer] : [peer, account]
        chat.insertMessage(Chat.pairOf(accountId, peerId), {
          conversationId: id,
          senderId: sender.id,
          text,
          createdAt: yield* DateTime.now
        })
        accounts.setHasWritten(sender.id, recipient.id)
      }
      return id
    }, transaction)
  }

  return {
    items,
    /** Inserts fixtures, generated items first: all of them or none. */
    insertFixtures: Effect.fnUntraced(function*(fixtures: Fixtures, seed: number): Effect.fn.Return<void, SeedingError> {
      yield* Effect.catchDefect(generate(fixtures.generate ?? {}, seed), (defect) =>
        isConflict(defect)
          ? Effect.fail(
            new Conflict({
              message: "an id or a username that the fixtures generate is in use: reset the sandbox, or create such items after them",
              details: { field: "generate" }
            })
          )
          : Effect.die(defect))
      yield* each("accounts", fixtures.accounts, items.createAccount)
      yield* each("relations", fixtures.relations, ({ from, to, ...relation }) => items.setRelation(from, to, relation))
      yield* each("posts", fixtures.posts, items.createPost)
      yield* each("products", fixtures.products, items.setProduct)
      yield* each("orders", fixtures.orders, items.setOrder)
      yield* each("conversations", fixtures.conversations, items.createConversation)
    }, transaction)
  }
})

/** Inserts fixtures into the database. */
export const makeInsertFixtures = Effect.map(makeItems, ({ insertFixtures }) => insertFixtures)

/** All seeding operations of a sandbox with a seed. */
export const make = Effect.fnUntraced(function*(seed: number) {
  const keys = yield* Keys
  const requests = yield* AccessRequests
  const { insertFixtures, items } = yield* makeItems
  return {
    ...items,
    /** Submits a request for developer access. */
    requestAccess: requests.submit,
    /** Approves or declines a request, as the operator does. An approval grants the access. */
    decideAccess: requests.decide,
    /** Applies an operator's transition to the developer access of an account. */
    setAccess: requests.transition,
    /** Adds fixtures to the data: all of them or, if one fails, none. */
    addFixtures: (fixtures: Fixtures) => insertFixtures(fixtures, seed),
    /** Creates a key (default: with all scopes). An account can have at most 5 active keys. */
    createKey: keys.create,
    /** Revokes a key by its id. */
    revokeKey: keys.revoke
  }
})

export interface SeedingOperations extends Effect.Success<ReturnType<typeof make>> {}
