/** The key that every program calls with. */

/** Well-formed and worth nothing. */
export const apiKey = `bench_${"0".repeat(40)}`
