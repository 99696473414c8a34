/** `plaza me` and `plaza users`. */
import * as Flags from "@plaza/cli-kit/Flags"
import { command, group } from "./Definition.ts"

const handlers = () => import("./UsersHandlers.ts")

const id = Flags.argument("ID", "The id of the user.")

export const me = command(
  "me",
  { summary: "Show the account of the API key.", examples: ["me", "me --profile shop --json"], output: "getMe" },
  {},
  () => handlers().then(({ me }) => me)
)

const get = command("get", { summary: "Show a user by id.", examples: ["users get 1002"], output: "getUser" }, { id },
  () => handlers().then(({ get }) => get))

const find = command(
  "find",
  { summary: "Show a user by username.", examples: ["users find corner-shop"], output: "getUserByUsername" },
  { username: Flags.argument("USERNAME", "The username, without @.") },
  () => handlers().then(({ find }) => find)
)

const follow = command(
  "follow",
  {
    summary: "Follow a user.",
    details: ["Retried after a fault of the service: repeating it is safe."],
    examples: ["users follow 1002"],
    output: "follow"
  },
  { id },
  () => handlers().then(({ follow }) => follow)
)

export const users = group("users", { summary: "Show and follow users.", examples: ["users find corner-shop", "users follow 1002"] }, [
  get,
  find,
  follow
])
