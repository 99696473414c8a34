/** Descriptions of commands, and the manual that is derived from a program's commands. */
import type * as Command from "@effect/cli/Command"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as CommandTree from "./CommandTree.ts"
import type { Manual, Section } from "./Manual.ts"

export interface Description {
  /** One sentence. The list of commands shows it too. */
  readonly summary: string
  /** Further paragraphs. */
  readonly details?: ReadonlyArray<string>
  /** Command lines without the program's name. */
  readonly examples: readonly [string, ...ReadonlyArray<string>]
}

/** The description of a command, for `Command.withDescription`. */
export const describe = ({ details = [], examples: [first, ...rest], summary }: Description): HelpDoc.HelpDoc =>
  [
    ...[summary, ...details].map((text) => HelpDoc.p(text)),
    HelpDoc.enumeration([HelpDoc.p(first), ...rest.map((example) => HelpDoc.p(example))])
  ]
    .reduce((doc, part) => HelpDoc.sequence(doc, part), HelpDoc.empty)

export interface Program {
  readonly name: string
  readonly version: string
  /** Sections of the program's help and man page (default: none). */
  readonly sections?: ReadonlyArray<Section>
}

/** The manual of a program. */
export const manual = <Name extends string, R, E, A>(
  command: Command.Command<Name, R, E, A>,
  { name, sections = [], version }: Program
): Manual => ({ name, version, page: CommandTree.page(command), sections })
