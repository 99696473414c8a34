/**
 * Parses an executable GraphQL document: its operations, with fragments in place. Keeps only what decides about pages, because the server
 * validates the rest.
 */
import { quoted } from "@plaza/tabular/Quoted"
import * as Result from "effect/Result"

/** A variable by its name, or a literal as it is written. */
export type Value = { readonly _tag: "Variable"; readonly name: string } | { readonly _tag: "Literal"; readonly text: string }

interface Head {
  /** The name in the response: the alias, if there is one. */
  readonly key: string
  readonly name: string
  readonly arguments: ReadonlyMap<string, Value>
  /** Whether a response may lack the field: it has a directive, or is one of some types only. */
  readonly isConditional: boolean
}

export interface Field extends Head {
  readonly fields: ReadonlyArray<Field>
}

export interface Variable {
  readonly name: string
  /** Whether its type ends with an exclamation mark. */
  readonly isRequired: boolean
  readonly value: Value | undefined
}

export interface Operation {
  readonly type: "query" | "mutation" | "subscription"
  readonly variables: ReadonlyArray<Variable>
  readonly fields: ReadonlyArray<Field>
}

/** The operations of a document, or why it is none. */
export const parse = (text: string): Result.Result<ReadonlyArray<Operation>, string> => {
  try {
    return Result.succeed(new Parser(text).document())
  } catch (error) {
    if (error instanceof Stop) return Result.fail(error.message)
    throw error
  }
}

/** Thrown through the parser, whose methods call each other. */
class Stop extends Error {}

interface Selected extends Head {
  readonly _tag: "Field"
  readonly selections: ReadonlyArray<Selection>
}

type Selection =
  | Selected
  | { readonly _tag: "Spread"; readonly name: string }
  | { readonly _tag: "Inline"; readonly selections: ReadonlyArray<Selection>; readonly isConditional: boolean }

// Far more than a query has. Fragments could nest and multiply others without an end.
const maxDepth = 50
const maxSelections = 5_000

const ignored = /(?:[\s,\uFEFF]|#[^\n\r]*)*/y
// A block string, a string, a number, a name or a punctuator.
const token = /"""(?:\\"""|[^])*?"""|"(?:\\.|[^"\\\n\r])*"|-?\d[\w.+-]*|[A-Za-z_]\w*|\.\.\.|[!$&()=:@[\]{|}]/y

class Parser {
  private readonly text: string
  private readonly tokens: Array<{ readonly text: string; readonly from: number }> = []
  private at = 0
  private depth = 0
  private selected = 0
  private readonly fragments = new Map<string, ReadonlyArray<Selection>>()

  constructor(text: string) {
    this.text = text
    for (let from = 0;;) {
      ignored.lastIndex = from
      from += ignored.exec(text)?.[0].length ?? 0
      if (from === text.length) return
      token.lastIndex = from
      const [found] = token.exec(text) ?? []
      if (found === undefined) throw this.unexpected(text.slice(from, from + 1), from)
      this.tokens.push({ text: found, from })
      from += found.length
    }
  }

  document(): ReadonlyArray<Operation> {
    const operations: Array<Pick<Operation, "type" | "variables"> & { readonly selections: ReadonlyArray<Selection> }> = []
    while (this.at < this.tokens.length) {
      const type = this.peek === "{" ? "query" : this.next()
      if (type === "query" || type === "mutation" || type === "subscription") {
        if (isName(this.peek)) this.next()
        const variables = this.variables()
        this.directives()
        operations.push({ type, variables, selections: this.selections() })
      } else if (type === "fragment") {
        const name = this.name()
        this.expect("on")
        this.name()
        this.directives()
        this.fragments.set(name, this.selections())
      } else this.fail(1)
    }
    return operations.map(({ selections, ...operation }) => ({ ...operation, fields: this.fieldsOf(selections) }))
  }

  /** The fields of selections: those of fragments in place, and those of one name together. */
  private fieldsOf(selections: ReadonlyArray<Selection>): ReadonlyArray<Field> {
    const found = new Map<string, Array<Selected>>()
    const collect = (selections: ReadonlyArray<Selection>, isConditional: boolean): void =>
      this.nested(() => {
        for (const each of selections) {
          if (++this.selected > maxSelections) throw new Stop(`it has more than ${maxSelections} fields`)
          if (each._tag === "Field") {
            const field = isConditional ? { ...each, isConditional } : each
            found.set(each.key, [...(found.get(each.key) ?? []), field])
          } else if (each._tag === "Inline") collect(each.selections, isConditional || each.isConditional)
          else {
            const fragment = this.fragments.get(each.name)
            if (fragment === undefined) throw new Stop(`it has no fragment ${quoted(each.name)}, which it uses`)
            // Its type may be another one than that of the object.
            collect(fragment, true)
          }
        }
      })
    collect(selections, false)
    return this.nested(() =>
      Array.from(found.values(), (same) => ({
        key: same[0]?.key ?? "",
        name: same[0]?.name ?? "",
        arguments: same[0]?.arguments ?? new Map<string, Value>(),
        isConditional: same.every(({ isConditional }) => isConditional),
        fields: this.fieldsOf(same.flatMap(({ selections }) => selections))
      }))
    )
  }

  private nested<A>(act: () => A): A {
    if (++this.depth > maxDepth) throw new Stop(`it is nested more than ${maxDepth} levels deep, or a fragment of it contains itself`)
    const result = act()
    this.depth--
    return result
  }

  private selections(): ReadonlyArray<Selection> {
    return this.nested(() => this.many("{", "}", () => this.selection()))
  }

  private selection(): Selection {
    if (this.skip("...")) {
      if (isName(this.peek) && this.peek !== "on") {
        const name = this.next()
        this.directives()
        return { _tag: "Spread", name }
      }
      const hasType = this.skip("on")
      if (hasType) this.name()
      const hasDirectives = this.directives()
      return { _tag: "Inline", isConditional: hasType || hasDirectives, selections: this.selections() }
    }
    const key = this.name()
    const name = this.skip(":") ? this.name() : key
    const args = this.arguments()
    const isConditional = this.directives()
    return { _tag: "Field", key, name, arguments: args, isConditional, selections: this.peek === "{" ? this.selections() : [] }
  }

  private arguments(): ReadonlyMap<string, Value> {
    return this.peek !== "(" ? new Map() : new Map(this.many("(", ")", () => {
      const name = this.name()
      this.expect(":")
      return [name, this.value()] as const
    }))
  }

  private directives(): boolean {
    const from = this.at
    while (this.skip("@")) {
      this.name()
      this.arguments()
    }
    return this.at > from
  }

  private variables(): ReadonlyArray<Variable> {
    return this.peek !== "(" ? [] : this.many("(", ")", () => {
      this.expect("$")
      const name = this.name()
      this.expect(":")
      const isRequired = this.type()
      const value = this.skip("=") ? this.value() : undefined
      this.directives()
      return { name, isRequired, value }
    })
  }

  /** Whether the type does not take null. */
  private type(): boolean {
    if (this.skip("[")) {
      this.nested(() => this.type())
      this.expect("]")
    } else this.name()
    return this.skip("!")
  }

  private value(): Value {
    if (this.skip("$")) return { _tag: "Variable", name: this.name() }
    const from = this.at
    this.literal()
    return { _tag: "Literal", text: this.tokens.slice(from, this.at).map(({ text }) => text).join(" ") }
  }

  private literal(): void {
    const first = this.next()
    if (first === "$") this.name()
    else if (first === "[") { while (!this.skip("]")) this.nested(() => this.literal()) }
    else if (first === "{") {
      while (!this.skip("}")) {
        this.name()
        this.expect(":")
        this.nested(() => this.literal())
      }
    } else if (/^[!&()=:@\]|}]|^\.\.\./.test(first)) this.fail(1)
  }

  /** One or more between two punctuators. */
  private many<A>(open: string, close: string, one: () => A): ReadonlyArray<A> {
    this.expect(open)
    const found = [one()]
    while (!this.skip(close)) found.push(one())
    return found
  }

  private get peek(): string | undefined {
    return this.tokens[this.at]?.text
  }

  private next(): string {
    return this.tokens[this.at++]?.text ?? this.fail(1)
  }

  private name(): string {
    return isName(this.peek) ? this.next() : this.fail()
  }

  private skip(text: string): boolean {
    const isNext = this.peek === text
    if (isNext) this.at++
    return isNext
  }

  private expect(text: string): void {
    if (!this.skip(text)) this.fail()
  }

  /** Fails at the next token, or at one before it. */
  private fail(before = 0): never {
    const found = this.tokens[this.at - before]
    throw found === undefined ? new Stop("it is no GraphQL query: it ends too early") : this.unexpected(found.text, found.from)
  }

  private unexpected(text: string, from: number): Stop {
    return new Stop(`it is no GraphQL query: ${quoted(text)} in line ${this.text.slice(0, from).split("\n").length} is unexpected`)
  }
}

const isName = (text: string | undefined): boolean => text !== undefined && /^[A-Za-z_]/.test(text)
