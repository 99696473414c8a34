/**
 * Services for the areas of the interface. The client limits the rate of requests and retries each operation by its delivery class.
 *
 * @since 0.1.0
 */
export { Chat } from "./Chat.ts"
export * as CircuitBreaker from "./CircuitBreaker.ts"
export * as ClientError from "./ClientError.ts"
export * as Durations from "./Durations.ts"
export * as FailureScope from "./FailureScope.ts"
export type { FailureOf, OperationName, RequestOf, SuccessOf } from "./internal/contract/Contract.ts"
export type { OpenFailure, Operations } from "./internal/contract/Operations.ts"
export type { ListFailure, ListOptions } from "./internal/contract/Pagination.ts"
export { Media } from "./Media.ts"
export * as Metrics from "./Metrics.ts"
export * as Plaza from "./Plaza.ts"
export { Posts } from "./Posts.ts"
export { Profiles } from "./Profiles.ts"
export * as RateLimit from "./RateLimit.ts"
export * as Redaction from "./Redaction.ts"
export * as Settings from "./Settings.ts"
export * as StockPriority from "./StockPriority.ts"
export { Store } from "./Store.ts"
export { Stories } from "./Stories.ts"
export * as TestTime from "./TestTime.ts"
export * as TransportReason from "./TransportReason.ts"
