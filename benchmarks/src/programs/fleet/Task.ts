/** The feeds of the shops. */
export interface ShopsTask {
  /** Accounts whose stock changes every minute. */
  readonly active: number
  /** Products of an active account. */
  readonly activeProducts: number
  /** Products of another account. */
  readonly products: number
}
