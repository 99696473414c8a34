/**
 * The numbers of the interface, each standing once. Knows nothing of how they are kept.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"

/**
 * Requests that one key may make in one {@link rateWindow}.
 * Source: interface v1, "Limits".
 *
 * @since 0.1.0
 * @category limits
 */
export const requestsPerWindow = 120

/**
 * The length of the window in which {@link requestsPerWindow} are counted. Where a window begins, and whether it
 * slides, is not told.
 * Source: interface v1, "Limits".
 *
 * @since 0.1.0
 * @category limits
 */
export const rateWindow: Duration.Duration = Duration.seconds(60)

/**
 * Keys that an account may hold active at a time.
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
 * Scopes that exist. Only the name of one of them is told.
 * Source: interface v1, "Authentication", rule 6.
 *
 * @since 0.1.0
 * @category limits
 */
export const scopeCount = 13

/**
 * Least items a list page may be asked for.
 * Source: interface v1, "Limits".
 *
 * @since 0.1.0
 * @category limits
 */
export const minPageSize = 1

/**
 * Most items a list page may be asked for.
 * Source: interface v1, "Limits".
 *
 * @since 0.1.0
 * @category limits
 */
export const maxPageSize = 100
