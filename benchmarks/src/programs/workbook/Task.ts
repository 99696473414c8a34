/** What the benchmark asks its program for. */
export interface Task {
  readonly path: string
  /** The number of rows that the file has. */
  readonly rows: number
}
