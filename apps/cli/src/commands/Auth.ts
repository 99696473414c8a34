/** `plaza auth`: profiles of accounts, and the default one. */
import * as Flags from "@plaza/cli-kit/Flags"
import { command, group } from "./Definition.ts"

const handlers = () => import("./AuthHandlers.ts")

const login = command(
  "login",
  {
    summary: "Log in to an account and save it as a profile.",
    details: [
      "Prompts for the API key without showing it, or reads it from a pipe. It is never an argument. The profile is saved after the " +
      "service accepts the key."
    ],
    examples: ["auth login --base-url https://api.example.com/open/v1", "auth login --profile shop < key.txt"],
    output: "login"
  },
  {},
  () => handlers().then(({ login }) => login)
)

const status = command(
  "status",
  {
    summary: "Show the account that commands use, and where its key and base URL come from.",
    details: ["Sends one request to the service."],
    examples: ["auth status", "auth status --profile shop"],
    output: "status"
  },
  {},
  () => handlers().then(({ status }) => status)
)

const list = command(
  "list",
  { summary: "List the saved profiles; * marks the default.", examples: ["auth list --json"], output: "profile" },
  {},
  () => handlers().then(({ list }) => list)
)

const use = command(
  "use",
  { summary: "Make a profile the default.", examples: ["auth use shop"], output: "use" },
  { name: Flags.argument("NAME", "The name of the profile.") },
  () => handlers().then(({ use }) => use)
)

const logout = command(
  "logout",
  {
    summary: "Remove a profile and its key from this machine.",
    details: ["The key stays valid. Revoke it in the web app under Settings, then Developers."],
    examples: ["auth logout", "auth logout --profile shop"],
    output: "logout"
  },
  {},
  () => handlers().then(({ logout }) => logout)
)

export const auth = group("auth", { summary: "Log in to accounts and manage profiles.", examples: ["auth login", "auth status"] }, [
  login,
  status,
  list,
  use,
  logout
])
