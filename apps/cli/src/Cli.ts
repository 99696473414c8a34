/** The commands of `plaza`. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { UsageError } from "@plaza/cli-kit/CliError"
import * as CommandLine from "@plaza/cli-kit/CommandLine"
import * as ExitCode from "@plaza/cli-kit/ExitCode"
import * as Manual from "@plaza/cli-kit/Manual"
import * as Output from "@plaza/cli-kit/Output"
import * as Progress from "@plaza/cli-kit/Progress"
import * as Limits from "@plaza/domain/Limits"
import * as Command from "effect/cli/Command"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { agent } from "./commands/Agent.ts"
import { api } from "./commands/Api.ts"
import { auth } from "./commands/Auth.ts"
import { chat } from "./commands/Chat.ts"
import { completions } from "./commands/Completions.ts"
import { doctor } from "./commands/Doctor.ts"
import { mcp } from "./commands/Mcp.ts"
import { media } from "./commands/Media.ts"
import { posts } from "./commands/Posts.ts"
import { sandbox } from "./commands/Sandbox.ts"
import { schema } from "./commands/Schema.ts"
import { skills } from "./commands/Skills.ts"
import { orders, stock } from "./commands/Store.ts"
import { stories } from "./commands/Stories.ts"
import { me, users } from "./commands/Users.ts"
import { verify } from "./commands/Verify.ts"
import { versionCommand } from "./commands/Version.ts"
import * as Globals from "./Globals.ts"
import * as EphemeralSandbox from "./sandbox/EphemeralSandbox.ts"
import { name, version } from "./version.ts"

const exitCodes: Manual.Section = {
  title: "Exit codes",
  entries: ExitCode.meanings.map(({ code, meaning }) => ({ name: code, description: meaning }))
}

const environment: Manual.Section = {
  title: "Environment",
  entries: [
    { name: "PLAZA_BASE_URL", description: "The base URL of the service; ends with /open/v1." },
    { name: "PLAZA_API_KEY", description: "The API key of the account." },
    { name: "PLAZA_API_KEY_FILE", description: "A file with the API key, instead of PLAZA_API_KEY." },
    { name: "PLAZA_PROFILE", description: "The profile to use (default: the default profile)." },
    { name: "PLAZA_TIMEOUT", description: "The timeout of one attempt (default: 30s)." },
    { name: "PLAZA_RATE_LIMIT", description: `Requests in one window (default: ${Limits.requestsPerWindow}).` },
    { name: "PLAZA_RATE_WINDOW", description: `The window of the rate limit (default: ${Duration.toSeconds(Limits.rateWindow)}s).` },
    { name: "PLAZA_ALLOW_INSECURE_HTTP", description: "true allows http to another machine, which exposes the key (default: false)." },
    { name: "PLAZA_LOG_LEVEL", description: "The log level on standard error, such as Debug (default: None)." },
    {
      name: "HTTPS_PROXY, HTTP_PROXY, NO_PROXY",
      description: "The proxy, with or without http://, and the hosts without it. This machine never needs a proxy."
    },
    { name: "PLAZA_DEBUG", description: "Any value prints the stack trace of a failure." },
    { name: "NO_COLOR", description: "Any value disables colours." }
  ]
}

/** What every command uses: output and progress by the flags, and with `--sandbox` the configuration of a new sandbox. */
const services = Layer.unwrap(Effect.gen(function*() {
  const settings = yield* Globals.output
  const { baseUrl, profile } = yield* Globals.connection
  const output = Layer.merge(Output.layer(settings), Layer.effect(Progress.Progress, Progress.make(settings)))
  if (!(yield* Globals.Sandbox)) return output
  const flag = Option.isSome(baseUrl) ? "--base-url" : Option.isSome(profile) ? "--profile" : undefined
  if (flag !== undefined) {
    return yield* new UsageError({ message: `--sandbox and ${flag} can't be used together: the sandbox has its own base URL and key` })
  }
  return Layer.merge(output, EphemeralSandbox.layer)
}))

/** The program. */
export const program = Command.make(name).pipe(
  Manual.describe({
    summary: "Work with an account of the Social and Store Developer Interface.",
    details: [
      "Log in with plaza auth login, or set PLAZA_BASE_URL and PLAZA_API_KEY. To try a command without an account, add --sandbox."
    ],
    examples: ["plaza --sandbox posts list", "plaza auth login", "plaza me --json"]
  }),
  Command.annotate(Manual.Sections, [exitCodes, environment]),
  Command.withSubcommands([
    { group: "Account", commands: [auth, me, users] },
    { group: "Social", commands: [posts, media, stories, chat] },
    { group: "Store", commands: [stock, orders] },
    { group: "Developer tools", commands: [sandbox, api, verify, schema, doctor] },
    { group: "Agents", commands: [mcp, agent, skills] },
    { group: "This program", commands: [completions, versionCommand] }
  ]),
  Command.provide(services),
  Command.withGlobalFlags(Globals.all)
)

const parse = CommandLine.run(program, version)

/** Runs the arguments after the program's name. */
export const run = (argv: ReadonlyArray<string>) => Effect.provide(parse(argv), Layer.merge(NodeFileSystem.layer, NodePath.layer))
