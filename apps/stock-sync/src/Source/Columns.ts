/**
 * Where in a record the product and its stock stand, by name. Knows nothing of records.
 *
 * @since 0.1.0
 */

/** @since 0.1.0 @category models */
export interface Columns {
  readonly idColumn: string
  readonly stockColumn: string
}
