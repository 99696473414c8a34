/**
 * Patterns for the method and the path of calls, of faults and of filters of the request log. Patterns that can match no call are
 * refused, because a test that counts 0 calls would otherwise pass by mistake.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/** @since 0.1.0 @category schemas */
export const Method = Schema.String.pipe(Schema.pattern(/^[^a-z]*$/, { message: () => "must be in capitals, such as POST" }))

/** @since 0.1.0 @category schemas */
export const Path = Schema.String.pipe(
  Schema.pattern(/^(?!\/open\/v1(\/|$))[/*]/, { message: () => "must begin with / or *, without /open/v1, such as /posts" })
)
