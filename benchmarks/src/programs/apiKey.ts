/**
 * The key that every program calls with.
 *
 * @since 0.1.0
 */

/** Well-formed and worth nothing. @since 0.1.0 @category constants */
export const apiKey = `bench_${"0".repeat(40)}`
