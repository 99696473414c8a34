/** The tools of `plaza mcp`: every read of the client, and the writes that the user allows. */
import { Chat, ClientError, Media, Posts, Profiles, Store, Stories } from "@plaza-legacy/client"
import * as Ids from "@plaza-legacy/domain/Ids"
import * as Limits from "@plaza-legacy/domain/Limits"
import * as NestingDepth from "@plaza-legacy/domain/NestingDepth"
import * as Requests from "@plaza-legacy/domain/Requests"
import * as Resources from "@plaza-legacy/domain/Resources"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { make, maxShownDepth, type Tool } from "./Tool.ts"
import type { UploadFolder } from "./UploadFolder.ts"
import type { Write } from "./Writes.ts"

const userId = Ids.ProfileId.annotations({ description: "The id of a user" })
const postId = Ids.PostId.annotations({ description: "The id of a post" })

// Small enough for the context of a model. More items are on the next page.
const defaultLimit = 20

const Limit = Schema.Int.pipe(Schema.between(Limits.minPageSize, Limits.maxPageSize)).annotations({
  message: () => `must be a whole number from ${Limits.minPageSize} to ${Limits.maxPageSize}`,
  jsonSchema: { type: "integer", minimum: Limits.minPageSize, maximum: Limits.maxPageSize, default: defaultLimit }
})

const page = Schema.Struct({
  limit: Schema.optionalWith(Limit, { exact: true }).annotations({ description: `The maximum number of items (default: ${defaultLimit})` }),
  cursor: Schema.optionalWith(Ids.Cursor, { exact: true }).annotations({
    description: "The nextCursor of the previous result (default: none, to start at the first item)"
  })
})

const listOf = <A, I>(item: Schema.Schema<A, I>) =>
  Schema.Struct({
    data: Schema.Array(item),
    nextCursor: Schema.NullOr(Ids.Cursor).annotations({ description: "Continues the list; null at its end" })
  })

/** One result: as many items as were asked for, from as many pages as the service needs for them. */
const firstOf = <A, E, R>(
  pages: (
    options: { readonly limit: number; readonly pageSize: number; readonly cursor?: Ids.Cursor }
  ) => Stream.Stream<Resources.Page<A>, E, R>,
  { cursor, limit = defaultLimit }: typeof page.Type
): Effect.Effect<{ readonly data: ReadonlyArray<A>; readonly nextCursor: Ids.Cursor | null }, E, R> =>
  Effect.map(
    Stream.runCollect(pages({ limit, pageSize: limit, ...(cursor === undefined ? {} : { cursor }) })),
    (read) => {
      const all = Chunk.toReadonlyArray(read)
      return { data: all.flatMap(({ data }) => data), nextCursor: all.at(-1)?.nextCursor ?? null }
    }
  )

const getMe = make("getMe", {
  input: Schema.Struct({}),
  output: Resources.Profile,
  run: () => Effect.flatMap(Profiles, ({ me }) => me)
})

const getUser = make("getUser", {
  input: Schema.Struct({ id: userId }),
  output: Resources.Profile,
  run: ({ id }) => Effect.flatMap(Profiles, ({ get }) => get(id))
})

const getUserByUsername = make("getUserByUsername", {
  input: Schema.Struct({ username: Ids.Username.annotations({ description: "A username, without @" }) }),
  output: Resources.Profile,
  run: ({ username }) => Effect.flatMap(Profiles, ({ find }) => find(username))
})

const listPosts = make("listPosts", {
  input: page,
  output: listOf(Resources.Post),
  run: (options) => Effect.flatMap(Posts, ({ pages }) => firstOf(pages, options))
})

const listConversations = make("listConversations", {
  input: page,
  output: listOf(Resources.Conversation),
  run: (options) => Effect.flatMap(Chat, ({ pages }) => firstOf(pages, options))
})

/** Any response of the service, as a value that can be encoded. */
const shown = (response: unknown): unknown =>
  NestingDepth.isBeyond(response, maxShownDepth)
    ? `The response has more than ${maxShownDepth} levels of nesting, so it is not shown.`
    : response ?? null

/** Change nothing, and are always offered. */
export const reads: ReadonlyArray<Tool> = [getMe, getUser, getUserByUsername, listPosts, listConversations]

const uploadMedia = (folder: UploadFolder): Tool =>
  make("uploadMedia", {
    note: "Uploads files from one folder only, without hidden files and folders.",
    input: Schema.Struct({ path: Schema.String.annotations({ description: "The path of a file, relative to the folder for uploads" }) }),
    output: Resources.Media,
    run: ({ path }) =>
      Effect.scoped(Effect.gen(function*() {
        const file = yield* folder.open(path)
        const { upload } = yield* Media
        // The name and the size come from the file, so the only invalid input is a content of another length, or of other bytes in a retry.
        return yield* Effect.catchTag(upload(file), "InvalidInput",
          () => new ClientError.InvalidInput({ field: "path", message: "path: the file changed while it was uploaded" }))
      }))
  })

const writes: Readonly<Record<Exclude<Write, "uploadMedia">, Tool>> = {
  followUser: make("followUser", {
    input: Schema.Struct({ id: userId }),
    output: Schema.Struct({ userId: Schema.String, following: Schema.Literal(true) }),
    run: ({ id }) => Effect.flatMap(Profiles, ({ follow }) => Effect.as(follow(id), { userId: id, following: true as const }))
  }),
  createPost: make("createPost", {
    input: Schema.Struct(Requests.NewPost.fields),
    output: Resources.Post,
    run: (post) => Effect.flatMap(Posts, ({ create }) => create(post))
  }),
  createComment: make("createComment", {
    input: Schema.Struct({ id: postId, ...Requests.NewComment.fields }),
    output: Resources.Comment,
    run: ({ id, text }) => Effect.flatMap(Posts, ({ comment }) => comment(id, text))
  }),
  likePost: make("likePost", {
    input: Schema.Struct({ id: postId }),
    output: Schema.Struct({ postId: Schema.String, liked: Schema.Literal(true) }),
    run: ({ id }) => Effect.flatMap(Posts, ({ like }) => Effect.as(like(id), { postId: id, liked: true as const }))
  }),
  createStory: make("createStory", {
    note: "The interface does not show the fields of a story.",
    input: Schema.Struct({ story: Requests.NewStory }),
    output: Schema.Struct({
      response: Schema.Unknown.annotations({
        description: "The response of the service; null if it had no body, a note if it is nested too deeply to show"
      })
    }),
    run: ({ story }) => Effect.flatMap(Stories, ({ create }) => Effect.map(create(story), (response) => ({ response: shown(response) })))
  }),
  setStock: make("setStock", {
    isDestructive: true,
    input: Schema.Struct({ id: Ids.ProductId.annotations({ description: "The id of a product" }), ...Requests.StockUpdate.fields }),
    output: Resources.Product,
    run: ({ id, stock }) => Effect.flatMap(Store, ({ setStock }) => setStock(id, stock))
  }),
  shipOrder: make("shipOrder", {
    isDestructive: true,
    input: Schema.Struct({ id: Ids.OrderId.annotations({ description: "The id of an order" }), ...Requests.NewShipment.fields }),
    output: Resources.Order,
    run: ({ id, ...shipment }) => Effect.flatMap(Store, ({ ship }) => ship(id, shipment))
  }),
  sendMessage: make("sendMessage", {
    input: Schema.Struct({
      id: Ids.ConversationId.annotations({ description: "The id of a conversation" }),
      ...Requests.NewMessage.fields
    }),
    output: Resources.Message,
    run: ({ id, text }) => Effect.flatMap(Chat, ({ send }) => send(id, text))
  })
}

/** The reads and the allowed writes. Uploads require a folder. */
export const offered = (allowed: ReadonlyArray<Write>, uploads: Option.Option<UploadFolder> = Option.none()): ReadonlyArray<Tool> => [
  ...reads,
  ...allowed.flatMap((name) => name === "uploadMedia" ? Option.toArray(Option.map(uploads, uploadMedia)) : [writes[name]])
]
