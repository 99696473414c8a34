/**
 * The nesting of JSON values. `JSON.parse` accepts any depth, but recursive functions such as `JSON.stringify` and the error messages of
 * Schema exhaust the stack.
 *
 * @since 0.1.0
 */

/**
 * Whether a value has arrays and objects nested in more levels than a maximum. Visits no deeper level.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isBeyond = (value: unknown, maxDepth: number): boolean =>
  typeof value === "object" && value !== null &&
  (maxDepth === 0 || Object.values(value).some((inner) => isBeyond(inner, maxDepth - 1)))
