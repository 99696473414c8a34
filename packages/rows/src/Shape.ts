/**
 * What a kind of row is made of: the columns that it needs, and how it is read from what stands in them. Knows nothing of formats, nor of
 * any kind of row.
 *
 * @since 0.1.0
 */

/** @since 0.1.0 @category models */
export interface Column {
  readonly name: string
  /** What names another column instead, as `--id-column`. */
  readonly option?: string | undefined
}

/** @since 0.1.0 @category models */
export interface Shape<Row> {
  /** The first one names what the row is about. */
  readonly columns: readonly [Column, ...ReadonlyArray<Column>]
  /** Takes what stands in the columns, in their order: texts, or the values of JSON. Whatever is wrong ends in a row that says so. */
  readonly read: (line: number, values: ReadonlyArray<unknown>) => Row
  /** What a source without rows is likely to be, in words that make sense after "which is"; undefined where it is nothing strange. */
  readonly empty: string | undefined
  /** A row that can't be used, with the text of the first column where there is one. */
  readonly bad: (line: number, named: string | undefined, reason: string) => Row
}
