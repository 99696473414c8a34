/** The task of `loop/Urgency`. */
export interface Task {
  readonly kind: "worker" | "fifo"
  /** Path of the ledger. */
  readonly place: string
  readonly products: number
  readonly changes: number
}
