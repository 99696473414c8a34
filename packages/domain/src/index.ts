/**
 * The interface as values: ids, resources, requests, errors, limits, state machines, the operation catalogue and the `HttpApi`
 * contract.
 *
 * @since 0.1.0
 */
export * as ApiKey from "./ApiKey.ts"
export * as DeveloperAccess from "./DeveloperAccess.ts"
export * as ErrorResponse from "./ErrorResponse.ts"
export {
  Category,
  categoryOf,
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
} from "./Errors.ts"
export type { DocumentedError, ErrorCode, ErrorEnvelope, ErrorFields, ServiceError } from "./Errors.ts"
export * from "./Ids.ts"
export * as Limits from "./Limits.ts"
export * as NestingDepth from "./NestingDepth.ts"
export type { DeliveryClass } from "./Operations.ts"
export * as PathSegment from "./PathSegment.ts"
export * from "./PlazaApi.ts"
export * from "./Requests.ts"
export { Comment, Confirmation, Conversation, Media, Message, Order, Page, Post, Product, Profile, Stock, Timestamp } from "./Resources.ts"
export * as Shipping from "./Shipping.ts"
