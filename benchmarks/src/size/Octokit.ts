/** One call of `octokit` with its plugins in a page. Only its size is measured. */
import { Octokit } from "octokit"

export const call = (): Promise<unknown> => new Octokit({ auth: "key" }).rest.users.getAuthenticated()
