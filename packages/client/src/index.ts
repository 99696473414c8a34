/**
 * How to call the interface well. Knows the contract and nothing of who answers it.
 *
 * @since 0.1.0
 */
export {}
