/** The API key of all callers: well-formed, and not a key of any service. */
export const apiKey = `bench_${"0".repeat(40)}`
