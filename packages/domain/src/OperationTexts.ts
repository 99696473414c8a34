/**
 * The texts of the operation catalogue. A separate module, so that clients don't load them.
 *
 * @since 0.1.0
 */
import type { Area, OperationName } from "./Operations.ts"

/**
 * The texts of an operation.
 *
 * @since 0.1.0
 * @category models
 */
export interface OperationText {
  /** A title in the imperative, without a full stop. */
  readonly summary: string
  /** One or two sentences. */
  readonly description: string
  /** What to check, and whether to repeat the call, after a call with an unknown outcome. Names no command. */
  readonly whenUnknown: string
  /**
   * The method of the area's service in the client, such as `create` of `Posts`. Its arguments are the parameters of the path, and the body
   * or its only field. A list has the method `pages` too.
   */
  readonly clientMethod: string
}

const onlyReads = "Run the command again: it only reads."
const isRepeatable = "Run the command again: repeating it is safe."
const checkWebApp = (subject: string) => `Check in the web app whether ${subject} before you run the command again.`

/**
 * The texts by the name of the operation.
 *
 * @since 0.1.0
 * @category operations
 */
export const texts: { readonly [Name in OperationName]: OperationText } = {
  getMe: {
    summary: "Read the key's own account",
    description: "Describes the account that owns the key.",
    whenUnknown: onlyReads,
    clientMethod: "me"
  },
  getUser: {
    summary: "Read a profile by id",
    description: "Reads a profile by its id.",
    whenUnknown: onlyReads,
    clientMethod: "get"
  },
  getUserByUsername: {
    summary: "Read a profile by username",
    description: "Reads a profile by its username.",
    whenUnknown: onlyReads,
    clientMethod: "find"
  },
  followUser: {
    summary: "Follow a user",
    description: "Follows a user. A second follow is assumed to change nothing.",
    whenUnknown: isRepeatable,
    clientMethod: "follow"
  },
  uploadMedia: {
    summary: "Upload a file",
    description: "Uploads one file for use in a post. A repeated upload can leave an unused file.",
    whenUnknown: "Run the command again. The service may then keep a second, unused copy of the file.",
    clientMethod: "upload"
  },
  createPost: {
    summary: "Create a post",
    description: "Creates a post. After an ambiguous failure, look for it in the account's posts.",
    whenUnknown: "Check the newest posts of the account before you run the command again.",
    clientMethod: "create"
  },
  listPosts: {
    summary: "List the account's posts",
    description: "Lists the account's posts, a page at a time.",
    whenUnknown: onlyReads,
    clientMethod: "list"
  },
  createComment: {
    summary: "Comment on a post",
    description:
      "Comments on a post. The interface can't list comments: after an ambiguous failure, check in the web app before you send the comment again.",
    whenUnknown: checkWebApp("the comment exists"),
    clientMethod: "comment"
  },
  likePost: {
    summary: "Like a post",
    description: "Likes a post. A second like is assumed to change nothing.",
    whenUnknown: isRepeatable,
    clientMethod: "like"
  },
  createStory: {
    summary: "Create a story",
    description:
      "Creates a story. The interface can't list stories: after an ambiguous failure, check in the web app before you send the story again.",
    whenUnknown: checkWebApp("the story exists"),
    clientMethod: "create"
  },
  setStock: {
    summary: "Set a product's stock",
    description: "Sets the stock of a product.",
    whenUnknown: isRepeatable,
    clientMethod: "setStock"
  },
  shipOrder: {
    summary: "Ship an order",
    description: "Ships an order. A second call for the same order is a conflict.",
    whenUnknown: "Run the command again. A conflict then means that the order is shipped, perhaps with another carrier or tracking number.",
    clientMethod: "ship"
  },
  listConversations: {
    summary: "List the account's conversations",
    description: "Lists the account's conversations, a page at a time.",
    whenUnknown: onlyReads,
    clientMethod: "list"
  },
  sendMessage: {
    summary: "Send a message",
    description:
      "Sends a message. The interface can't list messages: after an ambiguous failure, check in the web app before you send the message again.",
    whenUnknown: checkWebApp("the message exists"),
    clientMethod: "send"
  }
}

/**
 * The descriptions of the areas.
 *
 * @since 0.1.0
 * @category operations
 */
export const areas: { readonly [A in Area]: string } = {
  profiles: "The key's own account, other people's profiles and follows",
  media: "Files for use in posts",
  posts: "Posts with comments and likes",
  stories: "Stories",
  store: "Stock and shipping",
  chat: "Conversations and messages"
}
