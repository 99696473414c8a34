/** The task of `ledger/Receive`. */
export interface Task {
  /** The value of `--ledger`. */
  readonly place: string
  readonly products: number
  /** Number of products whose stock differs from the first snapshot. */
  readonly changes: number
  /** Marks all products as confirmed afterwards. */
  readonly settle: boolean
}
