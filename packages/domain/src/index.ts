/**
 * The interface as values: ids, resources, requests, errors, limits, state machines and the `HttpApi` contract.
 *
 * @since 0.1.0
 */
export * as ApiKey from "./ApiKey.js"
export * from "./Category.js"
export * from "./Delivery.js"
export * as DeveloperAccess from "./DeveloperAccess.js"
export * as ErrorResponse from "./ErrorResponse.js"
export {
  ChatBlocked,
  ChatNotAllowed,
  Conflict,
  DeveloperAccessRevoked,
  Forbidden,
  fromCode,
  InsufficientScope,
  InternalError,
  InvalidApiKey,
  InvalidJson,
  NotFound,
  PayloadTooLarge,
  ProfileIncomplete,
  RateLimited,
  StoreBlocked,
  UnrecognizedError,
  UserUnavailable,
  ValidationError
} from "./Errors.js"
export type { DocumentedError, ErrorCode, ErrorEnvelope, ErrorFields, ServiceError } from "./Errors.js"
export * from "./Ids.js"
export * as Limits from "./Limits.js"
export * as NestingDepth from "./NestingDepth.js"
export * as PathSegment from "./PathSegment.js"
export * from "./PlazaApi.js"
export * from "./Requests.js"
export { Comment, Confirmation, Conversation, Media, Message, Order, Page, Post, Product, Profile, Stock, Timestamp } from "./Resources.js"
export * as Shipping from "./Shipping.js"
