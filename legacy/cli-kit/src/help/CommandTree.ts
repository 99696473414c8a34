/**
 * Reads the commands, arguments and options of `@effect/cli` as a tree. The library exports neither its tree nor its
 * parameters, and its help names nested commands wrongly, so this module reads their internal structure. No other
 * module does.
 */
import * as Args from "@effect/cli/Args"
import type * as Command from "@effect/cli/Command"
import * as EffectOptions from "@effect/cli/Options"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { oneLine } from "../output/Text.ts"
import type * as Manual from "./Manual.ts"

const property = (value: unknown, name: string): unknown => Predicate.hasProperty(value, name) ? value[name] : undefined

const tagOf = (value: unknown): string => String(property(value, "_tag"))

/** The text of a `HelpDoc` or one of its spans, without formatting. */
const textOf = (doc: unknown): string => {
  switch (tagOf(doc)) {
    case "Sequence":
      return oneLine(`${textOf(property(doc, "left"))} ${textOf(property(doc, "right"))}`)
    case "Text":
      return oneLine(String(property(doc, "value")))
    default: {
      const inner = property(doc, "value")
      return inner === undefined ? "" : textOf(inner)
    }
  }
}

/** The paragraphs and list items of a `HelpDoc`, in order. */
const blocksOf = (doc: unknown): { readonly paragraphs: ReadonlyArray<string>; readonly items: ReadonlyArray<string> } => {
  switch (tagOf(doc)) {
    case "Sequence": {
      const [left, right] = [blocksOf(property(doc, "left")), blocksOf(property(doc, "right"))]
      return { paragraphs: [...left.paragraphs, ...right.paragraphs], items: [...left.items, ...right.items] }
    }
    case "Paragraph":
      return { paragraphs: [textOf(doc)], items: [] }
    case "Enumeration": {
      const elements = property(doc, "elements")
      return { paragraphs: [], items: Array.isArray(elements) ? elements.map(textOf) : [] }
    }
    default:
      return { paragraphs: [], items: [] }
  }
}

/** One argument or option, with what the combinators around it say. */
interface Parameter {
  readonly single: unknown
  readonly required: boolean
  readonly repeated: boolean
}

/** The arguments or options in the structure of the library, in order. */
const parametersOf = (node: unknown, required = true, repeated = false): ReadonlyArray<Parameter> => {
  switch (tagOf(node)) {
    case "Single":
      return [{ single: node, required, repeated }]
    case "Both":
    case "OrElse":
      return [
        ...parametersOf(property(node, "left"), required, repeated),
        ...parametersOf(property(node, "right"), required, repeated)
      ]
    case "WithDefault":
    case "WithFallback":
    case "WithFallbackConfig":
      return parametersOf(property(node, "options") ?? property(node, "args"), false, repeated)
    case "Variadic": {
      const min = property(node, "min")
      const least = Option.isOption(min) ? Option.getOrElse(min, () => 0) : 0
      return parametersOf(property(node, "argumentOption") ?? property(node, "args"), required && least !== 0, true)
    }
    case "KeyValueMap":
      return parametersOf(property(node, "argumentOption"), required, true)
    case "Map":
      return parametersOf(property(node, "options") ?? property(node, "args"), required, repeated)
    default:
      return []
  }
}

const choicesOf = (single: unknown): ReadonlyArray<string> | undefined => {
  const alternatives = property(property(single, "primitiveType"), "alternatives")
  return Array.isArray(alternatives) ? alternatives.map((alternative) => String(property(alternative, "0"))) : undefined
}

const pseudoNameOf = (single: unknown): string | undefined => {
  const name = property(single, "pseudoName")
  return Option.isOption(name) && Option.isSome(name) ? String(name.value) : undefined
}

const descriptionOf = (single: unknown): string => blocksOf(property(single, "description")).paragraphs.join(" ")

const valueNames: Readonly<Record<string, string>> = { Text: "TEXT", Integer: "N", Float: "N", Path: "PATH", DateTime: "DATE" }

const optionOf = ({ repeated, required, single }: Parameter): Manual.Option => {
  const primitive = tagOf(property(single, "primitiveType"))
  const choices = choicesOf(single)
  const value = primitive === "Bool" ? undefined : pseudoNameOf(single) ?? choices?.join("|") ?? valueNames[primitive] ?? "VALUE"
  return {
    name: String(property(single, "fullName")),
    ...(value === undefined ? {} : { value }),
    ...(choices === undefined ? {} : { choices }),
    description: descriptionOf(single),
    required: required && primitive !== "Bool",
    repeated
  }
}

const argumentOf = ({ repeated, required, single }: Parameter): Manual.Argument => {
  const choices = choicesOf(single)
  return {
    name: pseudoNameOf(single) ?? String(property(single, "name")).replace(/^<(.*)>$/, "$1"),
    ...(choices === undefined ? {} : { choices }),
    description: descriptionOf(single),
    required,
    repeated
  }
}

/** A command descriptor is a command, a command with subcommands, or one of these with a mapped result. */
const pageOf = (descriptor: unknown): Manual.Page => {
  switch (tagOf(descriptor)) {
    case "Map":
      return pageOf(property(descriptor, "command"))
    case "Subcommands": {
      const children = property(descriptor, "children")
      return { ...pageOf(property(descriptor, "parent")), commands: Array.isArray(children) ? children.map(pageOf) : [] }
    }
    default: {
      const [options, args] = [property(descriptor, "options"), property(descriptor, "args")]
      const { items, paragraphs: [summary = "", ...details] } = blocksOf(property(descriptor, "description"))
      return {
        name: String(property(descriptor, "name")),
        summary,
        details,
        args: Args.isArgs(args) ? parametersOf(args).map(argumentOf) : [],
        options: EffectOptions.isOptions(options) ? parametersOf(options).map(optionOf) : [],
        examples: items,
        commands: []
      }
    }
  }
}

/** The page of a command, with the pages of its subcommands. */
export const page = <Name extends string, R, E, A>(command: Command.Command<Name, R, E, A>): Manual.Page => pageOf(command.descriptor)
