/** The schema of a row: its columns, and how their values are decoded. */

export interface Column {
  readonly name: string
  /** The option that selects another column, such as `--id-column`. */
  readonly option?: string | undefined
  /** Whether its values are numbers, so that a number of a workbook is one and not the text that is shown for it. */
  readonly isNumber?: boolean | undefined
}

export interface RowSchema<Row> {
  /** The first column is the id. */
  readonly columns: readonly [Column, ...ReadonlyArray<Column>]
  /** Decodes the values of the columns, in their order: texts, or values of JSON. An invalid value gives a rejected row. */
  readonly decode: (line: number, values: ReadonlyArray<unknown>) => Row
  /** The likely cause of a source without rows, as the end of a sentence after "which is"; undefined if no rows are valid. */
  readonly empty: string | undefined
  /** Whether messages must not show the header, because rows have secrets and a source without a header begins with a row. */
  readonly hidesHeader?: boolean
  /** The option that names the charset of text, for messages about text that is not UTF-8. */
  readonly charsetOption?: string | undefined
  /** A rejected row, with its id if it can be read. */
  readonly reject: (line: number, id: string | undefined, reason: string) => Row
}
