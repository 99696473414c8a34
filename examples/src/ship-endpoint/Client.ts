/** The client of a server: callers get a response soon. */
import { createPlaza, type Plaza } from "@plaza/sdk"

let client: Plaza | undefined

/** One client for the whole process, because it keeps the rate limit of the key. Reads PLAZA_BASE_URL and PLAZA_API_KEY. */
export const getPlaza = () => client ??= createPlaza.fromEnv({ maxWait: "2s", timeout: "5s", retry: { times: 2, within: "5s" } })
