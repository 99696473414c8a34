/**
 * The TypeScript examples of the sandbox's reference, one for each operation. A test compares them with the page.
 */
import { Chat, Media, Plaza, Posts, Profiles, Store, Stories } from "@plaza/client"
import { ConversationId, Message, Order, OrderId, PostId, Product, ProductId, ProfileId, Username } from "@plaza/domain"
import { Effect, Schema, Stream } from "effect"

export const getMe = Effect.flatMap(Profiles, (profiles) => profiles.me)

export const getUser = Effect.flatMap(Profiles, (profiles) => profiles.get(ProfileId.make("1002")))

export const getUserByUsername = Effect.flatMap(Profiles, (profiles) => profiles.find(Username.make("ana.ruiz")))

export const followUser = Effect.flatMap(Profiles, (profiles) => profiles.follow(ProfileId.make("1002")))

export const uploadMedia = Effect.flatMap(Media, (media) => media.uploadFile("tea.jpg"))

export const createPost = Effect.flatMap(Posts, (posts) => posts.create({ text: "Fresh tea today" }))

export const listPosts = Effect.flatMap(Posts, (posts) => Stream.runCollect(posts.list({ limit: 20 })))

export const createComment = Effect.flatMap(Posts, (posts) => posts.comment(PostId.make("7300000000000000001"), "Lovely"))

export const likePost = Effect.flatMap(Posts, (posts) => posts.like(PostId.make("7300000000000000001")))

export const createStory = Effect.flatMap(Stories, (stories) => stories.create({ mediaId: "media-000001" }))

export const setStock = Effect.flatMap(Store, (store) => store.setStock(ProductId.make("MUG-BLUE-350"), 12))

export const shipOrder = Effect.flatMap(Store, (store) => store.ship(OrderId.make("500001"), { carrier: "DHL", trackingNumber: "0034" }))

export const listConversations = Effect.flatMap(Chat, (chat) => Stream.runCollect(chat.list({ limit: 20 })))

export const sendMessage = Effect.flatMap(Chat, (chat) => chat.send(ConversationId.make("conv_301"), "Your order is on its way"))

export const editPost = Plaza.request({
  method: "PATCH",
  path: "/posts/7300000000000000001",
  payload: { text: "Fresh tea tomorrow" },
  response: Schema.Unknown
})

export const deletePost = Plaza.request({ method: "DELETE", path: "/posts/7300000000000000001", response: Schema.Unknown })

export const listProducts = Stream.runCollect(Plaza.paginate({ path: "/store/products", item: Product }))

export const listOrders = Stream.runCollect(Plaza.paginate({ path: "/store/orders", item: Order }))

export const listMessages = Stream.runCollect(Plaza.paginate({ path: "/conversations/conv_301/messages", item: Message }))

export const getPost = Plaza.request({ method: "GET", path: "/posts/7300000000000000001", response: Schema.Unknown })

export const getStore = Plaza.request({ method: "GET", path: "/store", response: Schema.Unknown })

export const getProduct = Plaza.request({ method: "GET", path: "/store/products/MUG-BLUE-350", response: Schema.Unknown })

export const getOrder = Plaza.request({ method: "GET", path: "/store/orders/500001", response: Schema.Unknown })
