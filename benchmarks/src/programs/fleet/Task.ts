/** The feeds of the shops. */
export interface ShopsTask {
  /** Accounts whose stock changes every minute. */
  readonly active: number
}

/** Products of an account that is not active. */
export const products = 3
