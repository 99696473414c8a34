/**
 * One call of `@octokit/core` in a page. Only its size is measured.
 *
 * @since 0.1.0
 */
import { Octokit } from "@octokit/core"

export const call = (): Promise<unknown> => new Octokit({ auth: "key" }).request("GET /user")
