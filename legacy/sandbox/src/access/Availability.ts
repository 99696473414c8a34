/**
 * Whether others can see an account.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * The availability of an account to others. The document states what makes a user unavailable ("blocked, private or
 * suspended"). Assumed: a private account stays visible to its followers.
 *
 * @since 0.1.0
 * @category models
 */
export const Availability = Schema.Literal("available", "private", "suspended")
/** @since 0.1.0 @category models */
export type Availability = typeof Availability.Type
