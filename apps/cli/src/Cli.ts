/** The commands of `plaza`. */
import * as Command from "@effect/cli/Command"
import { type Grammar, has } from "@plaza/cli-kit/Arguments"
import * as CommandLine from "@plaza/cli-kit/CommandLine"
import { about } from "@plaza/cli-kit/Help"
import * as Effect from "effect/Effect"
import { api } from "./commands/Api.js"
import { auth } from "./commands/Auth.js"
import { chat } from "./commands/Chat.js"
import { completions } from "./commands/Completions.js"
import { doctor } from "./commands/Doctor.js"
import { media } from "./commands/Media.js"
import { posts } from "./commands/Posts.js"
import { sandbox } from "./commands/Sandbox.js"
import { orders, stock } from "./commands/Store.js"
import { stories } from "./commands/Stories.js"
import { me, users } from "./commands/Users.js"
import { aboutKey } from "./Connection.js"
import { flag as ownSandbox, sandboxed } from "./Sandboxed.js"
import { name, version } from "./version.js"

/** Every option of every command, and whether it has a value. */
export const grammar: Grammar = {
  valued: [
    "--allow-host",
    "--assumptions",
    "--base-url",
    "--carrier",
    "--concurrency",
    "--conversations",
    "--data",
    "--delimiter",
    "--field",
    "--fixtures",
    "--follows",
    "--format",
    "--header",
    "--host",
    "--input",
    "--latitude",
    "--limit",
    "--media",
    "--media-id",
    "--orders",
    "--people",
    "--port",
    "--posts",
    "--products",
    "--profile",
    "--report",
    "--seed",
    "--text",
    "--tracking-number"
  ],
  repeated: ["--allow-host", "--field", "--header", "--media", "--media-id"],
  flags: ["--again", "--all", "--document-only", "--dry-run", "--include", "--json", "--paginate", "--quiet"],
  global: [{ name: ownSandbox, said: "Run the command against a sandbox of its own, which ends with it and leaves nothing behind." }]
}

export const plaza = Command.make(name).pipe(
  Command.withDescription(about(
    "Acts on an account of the service: log in with plaza auth login, or set PLAZA_BASE_URL and PLAZA_API_KEY (or PLAZA_API_KEY_FILE). Without an account, start with plaza sandbox start.",
    "me --json"
  )),
  Command.withSubcommands([auth, me, users, media, posts, stories, stock, orders, chat, api, sandbox, doctor, completions])
)

export const options: CommandLine.Options = { name, version, grammar }

const parse = CommandLine.run(plaza, options)

/** Runs the words behind the program's name. */
export const run = (argv: ReadonlyArray<string>) =>
  Effect.mapError(Effect.provide(has(argv, ownSandbox) ? sandboxed(argv, parse(argv)) : parse(argv), CommandLine.layer), aboutKey)
