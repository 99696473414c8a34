/**
 * Services for the areas of the interface. Their calls are rate limited, and repeated only by the rules of each operation's
 * delivery class.
 *
 * @since 0.1.0
 */
export { Chat } from "./Chat.js"
export * as CircuitBreaker from "./CircuitBreaker.js"
export * as Failures from "./Failures.js"
export * as FailureScope from "./FailureScope.js"
export { Media } from "./Media.js"
export { Operations } from "./Operations.js"
export type { ListOptions } from "./Pagination.js"
export * as Plaza from "./Plaza.js"
export { Posts } from "./Posts.js"
export { Profiles } from "./Profiles.js"
export * as RateLimit from "./RateLimit.js"
export { Store } from "./Store.js"
export * as StockPriority from "./StockPriority.js"
export { Stories } from "./Stories.js"
