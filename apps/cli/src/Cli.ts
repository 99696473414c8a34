/** The commands of `plaza`. */
import * as Command from "@effect/cli/Command"
import * as CommandLine from "@plaza/cli-kit/CommandLine"
import * as ExitCode from "@plaza/cli-kit/ExitCode"
import * as Help from "@plaza/cli-kit/Help"
import type { Section } from "@plaza/cli-kit/Manual"
import * as Effect from "effect/Effect"
import * as EphemeralSandbox from "./sandbox/EphemeralSandbox.ts"
import { name, version } from "./version.ts"

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
    {
      name: "HTTPS_PROXY, HTTP_PROXY, NO_PROXY",
      description: "The proxy, with or without http://, and the hosts without it. This machine never needs a proxy."
    },
    { name: "PLAZA_DEBUG", description: "Any value prints the stack trace of a failure." },
    { name: "NO_COLOR", description: "Any value disables colours." }
  ]
}

/** In the order of the help. A run loads one of them. */
const commands = {
  auth: () => import("./commands/Auth.ts").then(({ auth }) => auth),
  me: () => import("./commands/Users.ts").then(({ me }) => me),
  users: () => import("./commands/Users.ts").then(({ users }) => users),
  media: () => import("./commands/Media.ts").then(({ media }) => media),
  posts: () => import("./commands/Posts.ts").then(({ posts }) => posts),
  stories: () => import("./commands/Stories.ts").then(({ stories }) => stories),
  stock: () => import("./commands/Store.ts").then(({ stock }) => stock),
  orders: () => import("./commands/Store.ts").then(({ orders }) => orders),
  chat: () => import("./commands/Chat.ts").then(({ chat }) => chat),
  api: () => import("./commands/Api.ts").then(({ api }) => api),
  sandbox: () => import("./commands/Sandbox.ts").then(({ sandbox }) => sandbox),
  verify: () => import("./commands/Verify.ts").then(({ verify }) => verify),
  mcp: () => import("./commands/Mcp.ts").then(({ mcp }) => mcp),
  schema: () => import("./commands/Schema.ts").then(({ schema }) => schema),
  skills: () => import("./commands/Skills.ts").then(({ skills }) => skills),
  doctor: () => import("./commands/Doctor.ts").then(({ doctor }) => doctor),
  completions: () => import("./commands/Completions.ts").then(({ completions }) => completions)
}

const isName = (name: string): name is keyof typeof commands => Object.hasOwn(commands, name)

const loadOne = (name: keyof typeof commands) => commands[name]()

type Subcommand = Awaited<ReturnType<typeof loadOne>>

const root = (subcommands: readonly [Subcommand, ...Array<Subcommand>]) =>
  Command.make(name, { sandbox: EphemeralSandbox.option }).pipe(
    Command.withDescription(Help.describe({
      summary: "Work with an account of the Social and Store Developer Interface.",
      details: [
        "Log in with plaza auth login, or set PLAZA_BASE_URL and PLAZA_API_KEY. To try a command without an account, add --sandbox."
      ],
      examples: ["--sandbox posts list", "auth login", "me --json"]
    })),
    Command.withSubcommands(subcommands),
    Command.transformHandler((command, { sandbox }) => sandbox ? EphemeralSandbox.run(command) : command)
  )

const { auth, ...others } = commands

/** The program, with the named command or with all of them. */
export const program = {
  name,
  version,
  sections: [exitCodes, environment],
  load: (name?: string) =>
    Effect.map(
      Effect.promise((): Promise<readonly [Subcommand, ...Array<Subcommand>]> =>
        name !== undefined && isName(name)
          ? loadOne(name).then((command) => [command])
          : Promise.all([auth(), ...Object.values(others).map((load) => load())])
      ),
      root
    )
}

const parse = CommandLine.run(program)

/** Runs the arguments after the program's name. */
export const run = (argv: ReadonlyArray<string>) => Effect.provide(parse(argv), CommandLine.layer)
