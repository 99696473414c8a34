/** One call of `@octokit/core` in a page. Only its size is measured. */
import { Octokit } from "@octokit/core"

export const call = (): Promise<unknown> => new Octokit({ auth: "key" }).request("GET /user")
