/**
 * The source of an account as the database stores it: as written, in an environment variable of the runner, or sealed, because an address
 * can hold a password. A sealed source keeps the address without secrets beside it, for listings.
 */
import * as Schema from "effect/Schema"
import * as Transformation from "effect/SchemaTransformation"
import * as SourceUri from "../source/SourceUri.ts"

const Parts = Schema.TaggedUnion({
  Plain: { text: Schema.String },
  Env: { name: Schema.String },
  Sealed: { text: Schema.String, shown: Schema.String }
})

export type SourceReference = typeof Parts.Type

const encode = (source: SourceReference): string => {
  switch (source._tag) {
    case "Plain":
      return source.text
    case "Env":
      return `env:${source.name}`
    case "Sealed":
      return `sealed:${source.text} ${source.shown}`
  }
}

const decode = (text: string): SourceReference => {
  const [, sealed, shown] = /^sealed:(\S+) (.*)$/s.exec(text) ?? []
  if (sealed !== undefined && shown !== undefined) return { _tag: "Sealed", text: sealed, shown }
  return text.startsWith("env:") ? { _tag: "Env", name: text.slice("env:".length) } : { _tag: "Plain", text }
}

/** A source as the database stores it. */
export const FromText = Schema.String.pipe(Schema.decodeTo(Parts, Transformation.transform({ decode, encode })))

/** For listings: without user, password and parameters of an address. */
export const display = (source: SourceReference): string =>
  source._tag === "Sealed" ? source.shown : source._tag === "Plain" ? SourceUri.display(source.text) : encode(source)
