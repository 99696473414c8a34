/** The API key of all contenders. */

/** Well-formed and worth nothing. */
export const apiKey = `bench_${"0".repeat(40)}`
