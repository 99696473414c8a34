/** Adds an entry to the text of a configuration file. Everything else stays: comments, order, indentation and line ends. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Jsonc from "jsonc-parser"
import { isDeepStrictEqual } from "node:util"
import * as Toml from "smol-toml"

/** How to start an MCP server. */
export interface Entry {
  readonly command: string
  readonly args: ReadonlyArray<string>
}

/** A text with the entry and what was added to it, or why nothing was. */
export type Edit =
  | { readonly _tag: "Added"; readonly text: string; readonly added: string }
  | { readonly _tag: "Same" }
  /** Another entry has this name. */
  | { readonly _tag: "Other" }

/** Adds an entry under a name to the table of servers. A failure is a clause about the file. */
export type AddEntry = (text: string, table: string, name: string, entry: Entry) => Result.Result<Edit, string>

const lineEndOf = (text: string): string => text.includes("\r\n") ? "\r\n" : "\n"

/** By content: the objects of TOML have no prototype. */
const isEqual = (one: unknown, other: unknown): boolean =>
  isDeepStrictEqual(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other)))

interface Format {
  readonly parse: (text: string) => Result.Result<unknown, string>
  readonly entryOf: (entry: Entry) => object
  /** The text with the entry, and what was added. */
  readonly insert: (text: string, table: string, name: string, entry: object) => { readonly text: string; readonly added: string }
}

const byteOrderMark = "\ufeff"

/** Adds an entry. Parses the new text too, to be sure that only the entry is new. */
const addTo = ({ entryOf, insert, parse }: Format): AddEntry => (written, table, name, server) =>
  Result.gen(function*() {
    const text = written.replace(byteOrderMark, "")
    const entry = entryOf(server)
    const root = yield* parse(text)
    if (!Predicate.isObject(root)) return yield* Result.fail("is not an object")
    const servers = root[table] ?? {}
    if (!Predicate.isObject(servers)) return yield* Result.fail(`has "${table}", which is not an object`)
    if (Object.hasOwn(servers, name)) return { _tag: isEqual(servers[name], entry) ? "Same" : "Other" }
    const { added, text: changed } = insert(text, table, name, entry)
    const after = Result.getOrUndefined(parse(changed))
    return isEqual(after ?? null, { ...root, [table]: { ...servers, [name]: entry } })
      ? { _tag: "Added", text: written.startsWith(byteOrderMark) ? byteOrderMark + changed : changed, added }
      : yield* Result.fail("can't be changed without changing other parts of it")
  })

const jsonOptions = { allowTrailingComma: true, allowEmptyContent: true }

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split("\n").length

/** The indentation of the line at an offset. */
const indentAt = (text: string, offset: number): string => /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", offset - 1) + 1))?.[0] ?? ""

const parseJson = (text: string): Result.Result<unknown, string> => {
  const errors: Array<Jsonc.ParseError> = []
  const value: unknown = Jsonc.parse(text, errors, jsonOptions)
  const [error] = errors
  return error === undefined ? Result.succeed(value ?? {}) : Result.fail(`is not valid JSON: see line ${lineAt(text, error.offset)}`)
}

/** Adds a property at the end of an object. The library would format the properties before it too. */
const addProperty = (
  text: string,
  { children = [], length, offset }: Jsonc.Node,
  name: string,
  value: unknown
): { readonly text: string; readonly added: string } => {
  const eol = lineEndOf(text)
  const [first] = children
  const last = children.at(-1)
  const outer = indentAt(text, offset)
  const unit = /\n([ \t]+)"/.exec(text)?.[1] ?? "  "
  const isOnOwnLine = first !== undefined && lineAt(text, first.offset) > lineAt(text, offset)
  const inner = isOnOwnLine ? indentAt(text, first.offset) : outer + unit
  const added = inner + `${JSON.stringify(name)}: ${JSON.stringify(value, null, unit)}`.replaceAll("\n", eol + inner)
  const end = offset + length - 1
  const afterLast = last === undefined ? end : last.offset + last.length
  const hasComma = /^(?:\s|\/\/.*|\/\*[^]*?\*\/)*,/.test(text.slice(afterLast, end))
  const space = /\s*$/.exec(text.slice(0, end))?.[0].length ?? 0
  const edits = [
    ...(last === undefined || hasComma ? [] : [{ offset: afterLast, length: 0, content: "," }]),
    { offset: end - space, length: space, content: `${eol}${added}${hasComma ? "," : ""}${eol}${outer}` }
  ]
  return { text: Jsonc.applyEdits(text, edits), added }
}

/** JSON, also with comments and trailing commas. */
export const addToJson = addTo({
  parse: parseJson,
  entryOf: ({ args, command }) => ({ type: "stdio", command, args: [...args] }),
  insert: (text, table, name, entry) => {
    const tree = Jsonc.parseTree(text, [], jsonOptions)
    if (tree === undefined) {
      // Only comments, or nothing.
      const eol = lineEndOf(text)
      const added = JSON.stringify({ [table]: { [name]: entry } }, null, 2).replaceAll("\n", eol)
      return { text: `${text.trim() === "" ? "" : text.trimEnd() + eol}${added}${eol}`, added }
    }
    const servers = Jsonc.findNodeAtLocation(tree, [table])
    return servers === undefined ? addProperty(text, tree, table, { [name]: entry }) : addProperty(text, servers, name, entry)
  }
})

/** TOML: adds a table at the end. */
export const addToToml = addTo({
  parse: (text) =>
    Result.try({
      try: (): unknown => Toml.parse(text),
      catch: (error) => `is not valid TOML${error instanceof Toml.TomlError ? `: see line ${error.line}` : ""}`
    }),
  entryOf: ({ args, command }) => ({ command, args: [...args] }),
  insert: (text, table, name, entry) => {
    const eol = lineEndOf(text)
    const added = `[${table}.${name}]\n${Toml.stringify(entry)}`.trimEnd().replaceAll("\n", eol)
    const gap = text.trim() === "" ? "" : text.endsWith("\n") ? eol : eol + eol
    return { text: `${text}${gap}${added}${eol}`, added }
  }
})
