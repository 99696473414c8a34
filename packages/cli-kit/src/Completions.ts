/** The completion scripts of a program, by the platform. */
import type { Command } from "effect/cli/Command"
import * as Completions from "effect/cli/Completions"
import type { Flag, Page } from "./Manual.ts"

export const shells = ["bash", "zsh", "fish", "powershell"] as const

export type Shell = (typeof shells)[number]

/** The type of a value by its name, as `FILE`. */
const pathOf = (name: string | undefined) =>
  name?.split("|").some((word) => word === "FILE") === true
    ? { _tag: "Path", pathType: "file" } as const
    : name === "DIR"
    ? { _tag: "Path", pathType: "directory" } as const
    : undefined

const globalOf = (flag: Flag): Completions.FlagDescriptor => ({
  name: flag.name,
  aliases: flag.aliases.map((alias) => alias.replace(/^-+/, "")),
  description: flag.description,
  type: flag.value === undefined ? { _tag: "Boolean" } : pathOf(flag.value) ?? { _tag: "String" },
  // A following word is no value of a flag without one, whatever it is.
  optionalValue: flag.value === undefined,
  negation: false
})

/**
 * The descriptor of the platform with the global flags, which it leaves out, and with the values that are files. The platform's own flags
 * of files are not used, because they make each path absolute.
 */
const withFilesAndGlobals = (
  descriptor: Completions.CommandDescriptor,
  pages: ReadonlyArray<Page>,
  path: ReadonlyArray<string>
): Completions.CommandDescriptor => {
  const page = pages.find((page) => page.path.join(" ") === path.join(" "))
  const types = new Map((page?.flags ?? []).map((flag) => [flag.name, pathOf(flag.value)]))
  return {
    ...descriptor,
    flags: [
      ...descriptor.flags.map((flag) => ({ ...flag, type: types.get(flag.name) ?? flag.type })),
      ...(page?.globals ?? []).map(globalOf)
    ],
    arguments: descriptor.arguments.map((argument) => ({ ...argument, type: pathOf(argument.name) ?? argument.type })),
    subcommands: descriptor.subcommands.map((command) => withFilesAndGlobals(command, pages, [...path, command.name]))
  }
}

/** The words behind `help`: those of the commands. */
const commandsOf = (descriptor: Completions.CommandDescriptor): Completions.CommandDescriptor => ({
  ...descriptor,
  flags: [],
  arguments: [],
  subcommands: descriptor.subcommands.map(commandsOf)
})

const withHelp = (descriptor: Completions.CommandDescriptor): Completions.CommandDescriptor => ({
  ...descriptor,
  subcommands: [...descriptor.subcommands, { ...commandsOf(descriptor), name: "help", description: "Show the help of a command." }]
})

const installation: Readonly<Record<Shell, (name: string) => string>> = {
  bash: (name) => `eval "$(${name} completions bash)" in ~/.bashrc`,
  zsh: (name) => `eval "$(${name} completions zsh)" in ~/.zshrc, behind compinit`,
  fish: (name) => `${name} completions fish > ~/.config/fish/completions/${name}.fish`,
  powershell: (name) => `${name} completions powershell | Out-String | Invoke-Expression, in $PROFILE`
}

/** The script for a shell. Its first line says how to install it. */
export const script = (command: Command.Any, pages: ReadonlyArray<Page>, shell: Shell): string => {
  const descriptor = withHelp(withFilesAndGlobals(Completions.fromCommand(command), pages, [command.name]))
  // The platform names its own flag, which the programs do not have.
  const generated = Completions.generate(command.name, shell, descriptor).replaceAll(`${command.name} --completions `,
    `${command.name} completions `)
  const [first = "", ...rest] = generated.split("\n")
  const note = `# Completions of ${command.name} for ${shell}: ${installation[shell](command.name)}`
  // zsh reads the first line of a file of completions.
  return (first.startsWith("#compdef") ? [first, note, ...rest] : [note, first, ...rest]).join("\n")
}
