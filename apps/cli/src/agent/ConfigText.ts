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

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => Predicate.isObject(value)

const byteOrderMark = "\ufeff"

const lineEndOf = (text: string): string => text.includes("\r\n") ? "\r\n" : "\n"

const withTable = (
  root: unknown,
  table: string,
  name: string
): Result.Result<{ readonly root: Json; readonly existing: unknown }, string> => {
  if (!isObject(root)) return Result.fail("is not an object")
  const servers = root[table] ?? {}
  return isObject(servers)
    ? Result.succeed({ root, existing: Object.hasOwn(servers, name) ? servers[name] : undefined })
    : Result.fail(`has "${table}", which is not an object`)
}

/** By content: the objects of TOML have no prototype. */
const isEqual = (one: unknown, other: unknown): boolean =>
  isDeepStrictEqual(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other)))

/** Whether only the entry is new. */
const isKept = (before: Json, after: unknown, table: string, name: string, entry: unknown): boolean =>
  isObject(after) && isEqual(after, { ...before, [table]: { ...(isObject(before[table]) ? before[table] : {}), [name]: entry } })

const edit = (
  { after, before, entry, existing, name, table, text }: {
    readonly before: Json
    readonly existing: unknown
    readonly entry: unknown
    readonly table: string
    readonly name: string
    /** The new text, what was added, and its value. */
    readonly after: () => { readonly text: string; readonly added: string; readonly root: unknown }
    readonly text: string
  }
): Result.Result<Edit, string> => {
  if (existing !== undefined) return Result.succeed({ _tag: isEqual(existing, entry) ? "Same" : "Other" })
  const { added, root, text: changed } = after()
  return isKept(before, root, table, name, entry)
    ? Result.succeed({ _tag: "Added", text: text.startsWith(byteOrderMark) ? byteOrderMark + changed : changed, added })
    : Result.fail("can't be changed without changing other parts of it")
}

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
export const addToJson: AddEntry = (written, table, name, { args, command }) => {
  const text = written.replace(byteOrderMark, "")
  const entry = { type: "stdio", command, args: [...args] }
  const after = () => {
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
  return Result.flatMap(parseJson(text), (root) =>
    Result.flatMap(withTable(root, table, name), ({ existing, root: before }) =>
      edit({
        before,
        existing,
        entry,
        table,
        name,
        text: written,
        after: () => {
          const changed = after()
          return { ...changed, root: Result.getOrUndefined(parseJson(changed.text)) }
        }
      })))
}

const parseToml = (text: string): Result.Result<unknown, string> =>
  Result.mapError(Result.try(() => Toml.parse(text)), (error) =>
    `is not valid TOML${error instanceof Toml.TomlError ? `: see line ${error.line}` : ""}`)

/** TOML: adds a table at the end. */
export const addToToml: AddEntry = (written, table, name, { args, command }) => {
  const text = written.replace(byteOrderMark, "")
  const entry = { command, args: [...args] }
  return Result.flatMap(parseToml(text), (root) =>
    Result.flatMap(withTable(root, table, name), ({ existing, root: before }) =>
      edit({
        before,
        existing,
        entry,
        table,
        name,
        text: written,
        after: () => {
          const eol = lineEndOf(text)
          const added = `[${table}.${name}]\n${Toml.stringify(entry)}`.trimEnd().replaceAll("\n", eol)
          const gap = text.trim() === "" ? "" : text.endsWith("\n") ? eol : eol + eol
          const changed = `${text}${gap}${added}${eol}`
          return { text: changed, added, root: Result.getOrUndefined(parseToml(changed)) }
        }
      })))
}
