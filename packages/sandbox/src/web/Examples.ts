/**
 * Examples of each operation for the reference: with curl, with `@plaza/client`, and with the `plaza` program. The TypeScript
 * is part of `examples/src/Reference.ts`, where it is compiled.
 */
import type { OperationName } from "@plaza/domain/Operations"

export interface Example {
  /** The path with the ids of the seeded data. */
  readonly path: string
  /** The body as JSON, or a file. */
  readonly body?: { readonly json: object } | { readonly file: string }
  readonly typescript: string
  readonly plaza: string
}

const assumed = (name: string, path: string): Example => ({
  path,
  typescript: `const ${name} = Plaza.request({ method: "GET", path: "${path}", response: Schema.Unknown })`,
  plaza: `plaza api GET ${path}`
})

const post = "7300000000000000001"

/** The examples by the name of the operation. Ids are those of the seeded shop; the id of a post is a placeholder. */
export const examples: { readonly [Name in OperationName]: Example } & Readonly<Record<string, Example>> = {
  getMe: {
    path: "/me",
    typescript: `const getMe = Effect.flatMap(Profiles, (profiles) => profiles.me)`,
    plaza: "plaza me"
  },
  getUser: {
    path: "/users/1002",
    typescript: `const getUser = Effect.flatMap(Profiles, (profiles) => profiles.get(ProfileId.make("1002")))`,
    plaza: "plaza users get 1002"
  },
  getUserByUsername: {
    path: "/users/by-username/ana.ruiz",
    typescript: `const getUserByUsername = Effect.flatMap(Profiles, (profiles) => profiles.find(Username.make("ana.ruiz")))`,
    plaza: "plaza users find ana.ruiz"
  },
  followUser: {
    path: "/users/1002/follow",
    typescript: `const followUser = Effect.flatMap(Profiles, (profiles) => profiles.follow(ProfileId.make("1002")))`,
    plaza: "plaza users follow 1002"
  },
  uploadMedia: {
    path: "/media",
    body: { file: "tea.jpg" },
    typescript: `const uploadMedia = Effect.flatMap(Media, (media) => media.uploadFile("tea.jpg"))`,
    plaza: "plaza media upload tea.jpg"
  },
  createPost: {
    path: "/posts",
    body: { json: { text: "Fresh tea today" } },
    typescript: `const createPost = Effect.flatMap(Posts, (posts) => posts.create({ text: "Fresh tea today" }))`,
    plaza: `plaza posts create --text "Fresh tea today"`
  },
  listPosts: {
    path: "/me/posts?limit=20",
    typescript: `const listPosts = Effect.flatMap(Posts, (posts) => Stream.runCollect(posts.list({ limit: 20 })))`,
    plaza: "plaza posts list --limit 20"
  },
  createComment: {
    path: `/posts/${post}/comments`,
    body: { json: { text: "Lovely" } },
    typescript: `const createComment = Effect.flatMap(Posts, (posts) => posts.comment(PostId.make("${post}"), "Lovely"))`,
    plaza: `plaza posts comment ${post} --text "Lovely"`
  },
  likePost: {
    path: `/posts/${post}/like`,
    typescript: `const likePost = Effect.flatMap(Posts, (posts) => posts.like(PostId.make("${post}")))`,
    plaza: `plaza posts like ${post}`
  },
  createStory: {
    path: "/stories",
    body: { json: { mediaId: "media-000001" } },
    typescript: `const createStory = Effect.flatMap(Stories, (stories) => stories.create({ mediaId: "media-000001" }))`,
    plaza: "plaza stories create --input story.json"
  },
  setStock: {
    path: "/store/products/MUG-BLUE-350/stock",
    body: { json: { stock: 12 } },
    typescript: `const setStock = Effect.flatMap(Store, (store) => store.setStock(ProductId.make("MUG-BLUE-350"), 12))`,
    plaza: "plaza stock set MUG-BLUE-350 12"
  },
  shipOrder: {
    path: "/store/orders/500001/ship",
    body: { json: { carrier: "DHL", trackingNumber: "0034" } },
    typescript:
      `const shipOrder = Effect.flatMap(Store, (store) =>\n  store.ship(OrderId.make("500001"), { carrier: "DHL", trackingNumber: "0034" }))`,
    plaza: "plaza orders ship 500001 --carrier DHL --tracking-number 0034"
  },
  listConversations: {
    path: "/conversations?limit=20",
    typescript: `const listConversations = Effect.flatMap(Chat, (chat) => Stream.runCollect(chat.list({ limit: 20 })))`,
    plaza: "plaza chat list --limit 20"
  },
  sendMessage: {
    path: "/conversations/conv_301/messages",
    body: { json: { text: "Your order is on its way" } },
    typescript:
      `const sendMessage = Effect.flatMap(Chat, (chat) =>\n  chat.send(ConversationId.make("conv_301"), "Your order is on its way"))`,
    plaza: `plaza chat send conv_301 --text "Your order is on its way"`
  },
  getPost: assumed("getPost", `/posts/${post}`),
  editPost: {
    path: `/posts/${post}`,
    body: { json: { text: "Fresh tea tomorrow" } },
    typescript:
      `const editPost = Plaza.request({\n  method: "PATCH",\n  path: "/posts/${post}",\n  payload: { text: "Fresh tea tomorrow" },\n  response: Schema.Unknown\n})`,
    plaza: `plaza api PATCH /posts/${post} --field text="Fresh tea tomorrow"`
  },
  deletePost: {
    path: `/posts/${post}`,
    typescript: `const deletePost = Plaza.request({ method: "DELETE", path: "/posts/${post}", response: Schema.Unknown })`,
    plaza: `plaza api DELETE /posts/${post}`
  },
  getStore: assumed("getStore", "/store"),
  listProducts: {
    path: "/store/products",
    typescript: `const listProducts = Stream.runCollect(Plaza.paginate({ path: "/store/products", item: Product }))`,
    plaza: "plaza api GET /store/products --paginate"
  },
  getProduct: assumed("getProduct", "/store/products/MUG-BLUE-350"),
  listOrders: {
    path: "/store/orders",
    typescript: `const listOrders = Stream.runCollect(Plaza.paginate({ path: "/store/orders", item: Order }))`,
    plaza: "plaza api GET /store/orders --paginate"
  },
  getOrder: assumed("getOrder", "/store/orders/500001"),
  listMessages: {
    path: "/conversations/conv_301/messages",
    typescript: `const listMessages = Stream.runCollect(Plaza.paginate({ path: "/conversations/conv_301/messages", item: Message }))`,
    plaza: "plaza api GET /conversations/conv_301/messages --paginate"
  }
}

/** The example as a curl command. */
export const curl = (method: string, { body, path }: Example): string =>
  [
    `curl ${method === "GET" ? "" : `-X ${method} `}"$PLAZA_BASE_URL${path}"`,
    `-H "Authorization: Bearer $PLAZA_API_KEY"`,
    ...(body === undefined
      ? []
      : "file" in body
      ? [`-F file=@${body.file}`]
      : [`-H "Content-Type: application/json"`, `-d '${JSON.stringify(body.json)}'`])
  ].join(" \\\n  ")
