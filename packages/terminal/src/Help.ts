/**
 * The help page of a command: what it does, how it is called, what it takes, and examples. Knows nothing of any command.
 *
 * @since 0.1.0
 */
import * as Args from "@effect/cli/Args"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Options from "@effect/cli/Options"
import type { Node } from "./Commands.js"
import * as Table from "./Table.js"
import { oneLine, withoutColour } from "./Text.js"

const plain = (doc: HelpDoc.HelpDoc): string => oneLine(withoutColour(HelpDoc.toAnsiText(doc)))

/**
 * What a command says of itself: a sentence, and examples without the program's name.
 *
 * @since 0.1.0
 * @category constructors
 */
export const about = (sentence: string, ...examples: ReadonlyArray<string>): HelpDoc.HelpDoc => {
  const [first, ...rest] = examples.map((example) => HelpDoc.p(example))
  return first === undefined ? HelpDoc.p(sentence) : HelpDoc.sequence(HelpDoc.p(sentence), HelpDoc.enumeration([first, ...rest]))
}

/** The parts of a text, in order. */
const parts = (doc: HelpDoc.HelpDoc): ReadonlyArray<Exclude<HelpDoc.HelpDoc, HelpDoc.Sequence | HelpDoc.Empty>> =>
  doc._tag === "Sequence" ? [...parts(doc.left), ...parts(doc.right)] : doc._tag === "Empty" ? [] : [doc]

// What the parser adds by itself, and the way it is written shows already.
const noise = /^(A true or false value\.|A user-defined piece of text\.|An? (integer|floating point number)\.|This setting is optional\.|This (option|argument) (may|must) be repeated .*)$/

interface Definition {
  readonly name: string
  readonly said: string
  /** Has to be given. */
  readonly required: boolean
}

/** Names with what is said of each. */
const definitions = (doc: HelpDoc.HelpDoc): ReadonlyArray<Definition> =>
  parts(doc).flatMap((part) =>
    part._tag !== "DescriptionList" ? [] : part.definitions.map(([span, definition]) => {
      const texts = parts(definition).map(plain)
      return {
        name: plain(HelpDoc.p(span)).replace(/(\.\.\.| \d+\+)$/, "").replace(/^<(.*)>$/, "$1"),
        said: texts.filter((text) => !noise.test(text)).join(" "),
        required: !texts.some((text) => text.startsWith("This setting is optional.") || text === "A true or false value." || text.includes("zero or more"))
      }
    }))

const rowsOf = (defined: ReadonlyArray<Definition>): ReadonlyArray<Table.Row> => defined.map(({ name, said }) => [`  ${name}`, said])

const usageOf = (node: Node): ReadonlyArray<string> => {
  const args = definitions(Args.getHelp(node.args))
  const options = definitions(Options.getHelp(node.options))
  const repeated = Args.getMaxSize(node.args) > args.length
  return [
    ...args.map(({ name, required }, index) => {
      const word = repeated && index === args.length - 1 ? `${name}...` : name
      return required ? word : `[${word}]`
    }),
    ...options.filter(({ required }) => required).map(({ name }) => name),
    ...(options.every(({ required }) => required) ? [] : ["[OPTION]..."])
  ]
}

const global: ReadonlyArray<Table.Row> = [["  --help", "Show this."], ["  --version", "Show the version."]]

/**
 * The lines of a command's help; `path` are the words by which it is called, the program's name first.
 *
 * @since 0.1.0
 * @category rendering
 */
export const render = (node: Node, path: ReadonlyArray<string>, medium: Table.Medium): string => {
  // A page of help reads the same in a pipe, where there is no width to fit.
  const page = medium.isTerminal ? medium : { ...medium, isTerminal: true, columns: () => 80 }
  const [program = ""] = path
  const description = parts(node.description)
  const about = description.filter((part) => part._tag === "Paragraph").map(plain)
  const examples = description.flatMap((part) => part._tag === "Enumeration" ? part.elements.map(plain) : [])
  const section = (head: string, rows: ReadonlyArray<Table.Row>): ReadonlyArray<string> =>
    rows.length === 0 ? [] : ["", `${head}:`, ...Table.lines([{ head: "", keepIndent: true }, { head: "", overflow: "wrap" }], rows, page, { head: false })]
  const call = [...path, ...(node.children.size > 0 ? ["COMMAND"] : usageOf(node))].join(" ")
  const commands = [...node.children.values()].map((child) => [
    `  ${child.name}`,
    plain(parts(child.description)[0] ?? HelpDoc.empty)
  ])
  return [
    ...about.flatMap((text) => Table.lines([{ head: "", overflow: "wrap" }], [[text]], page, { head: false })),
    "",
    `Usage: ${call}`,
    ...section("Commands", commands),
    ...section("Arguments", rowsOf(definitions(Args.getHelp(node.args)))),
    ...section("Options", [...rowsOf(definitions(Options.getHelp(node.options))), ...(node.children.size > 0 ? global : global.slice(0, 1))]),
    ...(examples.length === 0 ? [] : ["", "Examples:", ...examples.map((example) => `  ${program} ${example}`)])
  ].map((line) => `${line}\n`).join("")
}
