/** The commands of `plaza`. */
import * as Command from "@effect/cli/Command"
import * as CommandLine from "@plaza/cli-kit/CommandLine"
import * as ExitCode from "@plaza/cli-kit/ExitCode"
import * as Help from "@plaza/cli-kit/Help"
import type { Section } from "@plaza/cli-kit/Manual"
import * as Effect from "effect/Effect"
import { api } from "./commands/Api.js"
import { auth } from "./commands/Auth.js"
import { chat } from "./commands/Chat.js"
import { completions } from "./commands/Completions.js"
import { doctor } from "./commands/Doctor.js"
import { mcp } from "./commands/Mcp.js"
import { media } from "./commands/Media.js"
import { posts } from "./commands/Posts.js"
import { sandbox } from "./commands/Sandbox.js"
import { schema } from "./commands/Schema.js"
import { skills } from "./commands/Skills.js"
import { orders, stock } from "./commands/Store.js"
import { stories } from "./commands/Stories.js"
import { me, users } from "./commands/Users.js"
import { verify } from "./commands/Verify.js"
import * as EphemeralSandbox from "./sandbox/EphemeralSandbox.js"
import { name, version } from "./version.js"

const exitCodes: Section = {
  title: "Exit codes",
  entries: ExitCode.meanings.map(({ code, meaning }) => ({ name: code, description: meaning }))
}

const environment: Section = {
  title: "Environment",
  entries: [
    { name: "PLAZA_BASE_URL", description: "The base URL of the service; ends with /open/v1." },
    { name: "PLAZA_API_KEY", description: "The API key of the account." },
    { name: "PLAZA_API_KEY_FILE", description: "A file with the API key, instead of PLAZA_API_KEY." },
    { name: "PLAZA_PROFILE", description: "The profile to use (default: the default profile)." },
    { name: "PLAZA_TIMEOUT", description: "The timeout of one attempt (default: 30s)." },
    { name: "PLAZA_RATE_LIMIT", description: "Requests in one window (default: 120)." },
    { name: "PLAZA_RATE_WINDOW", description: "The window of the rate limit (default: 60s)." },
    { name: "PLAZA_ALLOW_INSECURE_HTTP", description: "true allows http to another machine, which exposes the key (default: false)." },
    { name: "PLAZA_LOG_LEVEL", description: "The log level on standard error, such as Debug (default: None)." },
    { name: "PLAZA_DEBUG", description: "Any value prints the stack trace of a failure." },
    { name: "NO_COLOR", description: "Any value disables colours." }
  ]
}

export const plaza = Command.make(name, { sandbox: EphemeralSandbox.option }).pipe(
  Command.withDescription(Help.describe({
    summary: "Work with an account of the Social and Store Developer Interface.",
    details: [
      "Log in with plaza auth login, or set PLAZA_BASE_URL and PLAZA_API_KEY. To try a command without an account, add --sandbox."
    ],
    examples: ["--sandbox posts list", "auth login", "me --json"]
  })),
  Command.withSubcommands([
    auth,
    me,
    users,
    media,
    posts,
    stories,
    stock,
    orders,
    chat,
    api,
    sandbox,
    verify,
    mcp,
    schema,
    skills,
    doctor,
    completions
  ]),
  Command.transformHandler((command, { sandbox }) => sandbox ? EphemeralSandbox.run(command) : command)
)

export const program: Help.Program = { name, version, sections: [exitCodes, environment] }

const parse = CommandLine.run(plaza, program)

/** Runs the arguments after the program's name. */
export const run = (argv: ReadonlyArray<string>) => Effect.provide(parse(argv), CommandLine.layer)
