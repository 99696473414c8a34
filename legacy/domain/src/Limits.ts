/**
 * The numbers of the interface.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"

/**
 * Requests that one key may make in a {@link rateWindow}.
 * Source: interface v1, "Limits".
 *
 * @since 0.1.0
 * @category limits
 */
export const requestsPerWindow = 120

/**
 * The length of the window in which {@link requestsPerWindow} are counted. The document doesn't say when a window starts or
 * whether it slides.
 * Source: interface v1, "Limits".
 *
 * @since 0.1.0
 * @category limits
 */
export const rateWindow: Duration.Duration = Duration.seconds(60)

/**
 * Active keys that an account may hold at a time.
 * Source: interface v1, "Limits".
 *
 * @since 0.1.0
 * @category limits
 */
export const maxActiveKeys = 5

/**
 * Characters of a key after its fixed prefix.
 * Source: interface v1, "Authentication", rule 3.
 *
 * @since 0.1.0
 * @category limits
 */
export const keySecretLength = 40

/**
 * The smallest `limit` of a list.
 * Source: interface v1, "Limits".
 *
 * @since 0.1.0
 * @category limits
 */
export const minPageSize = 1

/**
 * The largest `limit` of a list.
 * Source: interface v1, "Limits".
 *
 * @since 0.1.0
 * @category limits
 */
export const maxPageSize = 100
