/** A kind of row: the columns that it needs, and how their values become a row. */

export interface Column {
  readonly name: string
  /** The option that names another column, such as `--id-column`. */
  readonly option?: string | undefined
}

export interface RowSchema<Row> {
  /** The first one holds the id. */
  readonly columns: readonly [Column, ...ReadonlyArray<Column>]
  /** Takes the values of the columns in their order: texts, or values of JSON. Gives a rejected row where one is wrong. */
  readonly read: (line: number, values: ReadonlyArray<unknown>) => Row
  /** What a source without rows probably is, in words that make sense after "which is"; undefined where no rows are fine. */
  readonly empty: string | undefined
  /** A rejected row, with the id where there is one. */
  readonly bad: (line: number, named: string | undefined, reason: string) => Row
}
