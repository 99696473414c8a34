/**
 * The other side of the contract, local and stateful. Knows nothing of the client.
 *
 * @since 0.1.0
 */
export {}
