/**
 * Reads an executable GraphQL document by the parser of `graphql`: its operations, with fragments in place. Keeps only what decides about
 * pages, because the server validates the rest (docs/decisions/060-graphql-queries.md).
 */
import * as Text from "@plaza/cli-kit/Text"
import { quoted } from "@plaza/tabular/Quoted"
import * as Result from "effect/Result"
import { GraphQLError } from "graphql/error/GraphQLError"
import type { FieldNode, InlineFragmentNode, OperationDefinitionNode, SelectionSetNode } from "graphql/language/ast"
import { Kind } from "graphql/language/kinds"
import { Lexer } from "graphql/language/lexer"
import { parse as parseDocument } from "graphql/language/parser"
import { Source } from "graphql/language/source"
import { TokenKind } from "graphql/language/tokenKind"

export interface Field {
  /** The name in the response: the alias, if there is one. */
  readonly key: string
  readonly name: string
  /** The variable of each argument; undefined for a literal. */
  readonly arguments: ReadonlyMap<string, string | undefined>
  /** Whether a response may lack the field: it has a directive, or is one of some types only. */
  readonly isConditional: boolean
  readonly fields: ReadonlyArray<Field>
}

export interface Variable {
  readonly name: string
  /** Whether its type ends with an exclamation mark. */
  readonly isRequired: boolean
  readonly hasDefault: boolean
}

export interface Operation {
  readonly type: "query" | "mutation" | "subscription"
  readonly variables: ReadonlyArray<Variable>
  readonly fields: ReadonlyArray<Field>
}

/** The operations of a document, or why it is none. */
export const parse = (text: string): Result.Result<ReadonlyArray<Operation>, string> => {
  try {
    return Result.succeed(operationsOf(text))
  } catch (error) {
    if (error instanceof Stop) return Result.fail(error.message)
    if (error instanceof GraphQLError) return Result.fail(syntaxError(error))
    throw error
  }
}

/** Thrown through functions that call each other. */
class Stop extends Error {}

// Far more than a query has. Fragments could nest and multiply others without an end.
const maxDepth = 50
const maxSelections = 5_000

const tooDeep = () => new Stop(`it is nested more than ${maxDepth} levels deep, or a fragment of it contains itself`)

// A message quotes a token, which may be as long as the document.
const longestMessage = 120

const syntaxError = ({ locations, message }: GraphQLError): string => {
  const [at] = locations ?? []
  const text = Text.oneLine(message.replace(/^Syntax Error: |\.$/g, ""))
  return `it is no GraphQL query${at === undefined ? "" : `, see line ${at.line}, column ${at.column}`}: ${
    text.length > longestMessage ? `${text.slice(0, longestMessage)}…` : text
  }`
}

const opening: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L])
const closing: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R])

const operationsOf = (text: string): ReadonlyArray<Operation> => {
  const source = new Source(text)
  const lexer = new Lexer(source)
  // The parser rejects an empty document as unfinished.
  if (lexer.advance().kind === TokenKind.EOF) return []
  // The parser has no limit of the depth but the stack.
  for (let depth = 0; lexer.token.kind !== TokenKind.EOF; lexer.advance()) {
    if (closing.has(lexer.token.kind)) depth--
    else if (opening.has(lexer.token.kind) && ++depth > maxDepth) throw tooDeep()
  }
  const { definitions } = parseDocument(source, { noLocation: true })
  const operations: Array<OperationDefinitionNode> = []
  const fragments = new Map<string, SelectionSetNode>()
  for (const each of definitions) {
    if (each.kind === Kind.OPERATION_DEFINITION) operations.push(each)
    else if (each.kind === Kind.FRAGMENT_DEFINITION) fragments.set(each.name.value, each.selectionSet)
    else throw new Stop("it defines a schema, and a source is only read: leave one query in it")
  }
  const fieldsOf = fieldsWith(fragments)
  return operations.map(({ operation, selectionSet, variableDefinitions = [] }) => ({
    type: operation,
    variables: variableDefinitions.map(({ defaultValue, type, variable }) => ({
      name: variable.name.value,
      isRequired: type.kind === Kind.NON_NULL_TYPE,
      hasDefault: defaultValue !== undefined
    })),
    fields: fieldsOf([selectionSet])
  }))
}

const isDirected = ({ directives = [] }: FieldNode | InlineFragmentNode): boolean => directives.length > 0

/** The fields of selections: those of fragments in place, and those of one name together. */
const fieldsWith = (fragments: ReadonlyMap<string, SelectionSetNode>) => {
  let selected = 0
  let depth = 0
  const nested = <A>(act: () => A): A => {
    if (++depth > maxDepth) throw tooDeep()
    const result = act()
    depth--
    return result
  }
  const fieldsOf = (sets: ReadonlyArray<SelectionSetNode>): ReadonlyArray<Field> => {
    const found = new Map<string, { readonly first: FieldNode; isConditional: boolean; readonly sets: Array<SelectionSetNode> }>()
    const collect = ({ selections }: SelectionSetNode, isConditional: boolean): void =>
      nested(() => {
        for (const each of selections) {
          if (++selected > maxSelections) throw new Stop(`it has more than ${maxSelections} fields`)
          if (each.kind === Kind.FIELD) {
            const key = (each.alias ?? each.name).value
            const field = found.get(key) ?? { first: each, isConditional: true, sets: [] }
            found.set(key, field)
            field.isConditional &&= isConditional || isDirected(each)
            if (each.selectionSet !== undefined) field.sets.push(each.selectionSet)
          } else if (each.kind === Kind.INLINE_FRAGMENT) {
            collect(each.selectionSet, isConditional || each.typeCondition !== undefined || isDirected(each))
          } else {
            const fragment = fragments.get(each.name.value)
            if (fragment === undefined) throw new Stop(`it has no fragment ${quoted(each.name.value)}, which it uses`)
            // Its type may be another one than that of the object.
            collect(fragment, true)
          }
        }
      })
    for (const set of sets) collect(set, false)
    return nested(() =>
      Array.from(found, ([key, { first, isConditional, sets }]) => ({
        key,
        name: first.name.value,
        arguments: new Map(
          first.arguments?.map(({ name, value }) => [name.value, value.kind === Kind.VARIABLE ? value.name.value : undefined])
        ),
        isConditional,
        fields: fieldsOf(sets)
      }))
    )
  }
  return fieldsOf
}
