/**
 * Services for the areas of the interface. The client limits the rate of requests and retries each operation by its delivery class.
 *
 * @since 0.1.0
 */
export { Chat } from "./Chat.js"
export * as CircuitBreaker from "./CircuitBreaker.js"
export * as ClientError from "./ClientError.js"
export * as Durations from "./Durations.js"
export * as FailureScope from "./FailureScope.js"
export type { FailureOf, OperationName, RequestOf, SuccessOf } from "./internal/contract/Contract.js"
export type { OpenFailure, Operations } from "./internal/contract/Operations.js"
export type { ListFailure, ListOptions } from "./internal/contract/Pagination.js"
export { Media } from "./Media.js"
export * as Metrics from "./Metrics.js"
export * as Plaza from "./Plaza.js"
export { Posts } from "./Posts.js"
export { Profiles } from "./Profiles.js"
export * as RateLimit from "./RateLimit.js"
export * as Redaction from "./Redaction.js"
export * as Settings from "./Settings.js"
export * as StockPriority from "./StockPriority.js"
export { Store } from "./Store.js"
export { Stories } from "./Stories.js"
export * as TestTime from "./TestTime.js"
export * as TransportReason from "./TransportReason.js"
