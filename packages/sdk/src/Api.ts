/** The types and errors that every entry of this package exports beside `createPlaza`. */
import type { ListOptions as ClientListOptions } from "@plaza/client"
import type * as Domain from "@plaza/domain"
import type { Plain } from "@plaza/domain/Plain"
import type { CallOptions } from "./Options.ts"

export * from "./Errors.ts"
export type {
  Attempt,
  CallOptions,
  DurationInput,
  EnvironmentOptions,
  LogEntry,
  Options,
  RetryOptions,
  TransportOptions
} from "./Options.ts"
export type { Areas, CreatePlaza, Failures, OpenList, OpenRequest, Plaza } from "./Plaza.ts"
export type { Pieces, Upload, UploadOptions } from "./Uploads.ts"

/** A profile. The document does not show which fields are always present. */
export type Profile = Plain<Domain.Profile>
/** A post of the account. */
export type Post = Plain<Domain.Post>
/** The body of a new post. */
export type NewPost = Plain<Domain.NewPost>
/** An uploaded file. A post refers to it by `mediaId`. */
export type Media = Plain<Domain.Media>
/** A comment. */
export type Comment = Plain<Domain.Comment>
/** A product of the account's store. */
export type Product = Plain<Domain.Product>
/** An order. A shipped order has a carrier and a tracking number. */
export type Order = Plain<Domain.Order>
/** A shipment of an order. */
export type NewShipment = Plain<Domain.NewShipment>
/** A conversation of the account. */
export type Conversation = Plain<Domain.Conversation>
/** A chat message. */
export type Message = Plain<Domain.Message>
/** Options of a list. */
export type ListOptions = Plain<ClientListOptions> & CallOptions
