/**
 * Reads a program's commands from the parser as a tree. The parser itself shows one level only, and its help names
 * nested commands wrongly.
 */
import * as Args from "@effect/cli/Args"
import type * as Command from "@effect/cli/Command"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Options from "@effect/cli/Options"
import * as Predicate from "effect/Predicate"

export interface Node {
  readonly name: string
  readonly description: HelpDoc.HelpDoc
  readonly options: Options.Options<unknown>
  readonly args: Args.Args<unknown>
  /** The subcommands by name. */
  readonly children: ReadonlyMap<string, Node>
}

const isHelpDoc = (u: unknown): u is HelpDoc.HelpDoc =>
  Predicate.hasProperty(u, "_tag") &&
  ["Empty", "Header", "Paragraph", "DescriptionList", "Enumeration", "Sequence"].includes(String(u._tag))

const property = (of: unknown, name: string): unknown => Predicate.hasProperty(of, name) ? of[name] : undefined

const leaf = (command: unknown): Node => {
  const options = property(command, "options")
  const args = property(command, "args")
  const description = property(command, "description")
  return {
    name: String(property(command, "name")),
    description: isHelpDoc(description) ? description : HelpDoc.empty,
    options: Options.isOptions(options) ? options : Options.none,
    args: Args.isArgs(args) ? args : Args.none,
    children: new Map()
  }
}

/** The parser's internal structure, which it doesn't export: a command, one with subcommands, or a mapped one. */
const read = (command: unknown): Node => {
  switch (property(command, "_tag")) {
    case "Map":
      return read(property(command, "command"))
    case "Subcommands": {
      const children = property(command, "children")
      const below = Array.isArray(children) ? children.map(read) : []
      return { ...read(property(command, "parent")), children: new Map(below.map((child) => [child.name, child])) }
    }
    default:
      return leaf(command)
  }
}

/** The tree of a command and its subcommands. */
export const tree = <Name extends string, R, E, A>(command: Command.Command<Name, R, E, A>): Node => read(command.descriptor)
