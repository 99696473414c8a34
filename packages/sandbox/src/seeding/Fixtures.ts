/**
 * Fixtures: data that a new sandbox holds in addition to its seed, as generated quantities and as single items.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { SandboxError } from "../SandboxError.ts"
import * as TextFile from "../TextFile.ts"
import { issuesOf, optional, problemOf } from "../Validation.ts"
import * as Models from "./SeedingModels.ts"

/** The maximum quantity. Beyond it, seeding takes minutes and much memory. */
const maxQuantity = 10_000_000
const quantity = optional(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxQuantity })))

/**
 * How many items of each kind to generate from the sandbox's seed (default: 0).
 *
 * @since 0.1.0
 * @category models
 */
export const Quantities = Schema.Struct({
  /** Accounts, without keys. */
  people: quantity,
  /** Follows among these people and of the shop; at most the square of `people`. */
  follows: quantity,
  /** Posts, half of them by the shop and half by these people. Without people, all by the shop. */
  posts: quantity,
  /** Products of the shop, one in ten sold out. */
  products: quantity,
  /** Orders of the shop, one in four shipped. */
  orders: quantity,
  /** Conversations of the shop, each with a different one of these people; one in five has no reply. */
  conversations: quantity
}).annotate({ identifier: "Quantities" })
/** @since 0.1.0 @category models */
export type Quantities = typeof Quantities.Type

/**
 * Data to seed. Items are inserted in the order of these fields, so later ones can refer to earlier and generated ones.
 *
 * @since 0.1.0
 * @category models
 */
export const Fixtures = Schema.Struct({
  generate: optional(Quantities),
  accounts: optional(Schema.Array(Models.NewAccount)),
  relations: optional(Schema.Array(Models.RelationChange)),
  posts: optional(Schema.Array(Models.NewPost)),
  products: optional(Schema.Array(Models.NewProduct)),
  orders: optional(Schema.Array(Models.NewOrder)),
  conversations: optional(Schema.Array(Models.NewConversation))
}).annotate({ identifier: "Fixtures" })
/** @since 0.1.0 @category models */
export type Fixtures = typeof Fixtures.Type

const decodeUnknown = Schema.decodeUnknownResult(Fixtures, { onExcessProperty: "error", reportInput: true })

/**
 * Formats the path of a field: `products[3].stock`.
 *
 * @since 0.1.0
 * @category errors
 */
export const fieldPath = (path: ReadonlyArray<PropertyKey>): string =>
  path.reduce<string>(
    (prefix, part) =>
      /^\d+$/.test(String(part)) ? `${prefix}[${String(part)}]` : prefix === "" ? String(part) : `${prefix}.${String(part)}`,
    ""
  )

/**
 * Decodes fixtures from plain data. The error is one sentence that starts with the path of the field.
 *
 * @since 0.1.0
 * @category decoding
 */
export const decode = (data: unknown): Result.Result<Fixtures, string> =>
  Result.mapError(decodeUnknown(data), (error) => {
    const [issue] = issuesOf(error)
    return issue === undefined ? "the file: is wrong" : `${fieldPath(issue.path) || "the file"}: ${problemOf(issue)}`
  })

const Json = Schema.fromJsonString(Fixtures)

/**
 * Encodes fixtures as JSON, for the database.
 *
 * @since 0.1.0
 * @category encoding
 */
export const encodeJson: (fixtures: Fixtures) => string = Schema.encodeSync(Json)

/**
 * Decodes the JSON of {@link encodeJson}.
 *
 * @since 0.1.0
 * @category decoding
 */
export const decodeJson: (json: string) => Fixtures = Schema.decodeSync(Json)

/** Parses by the extension or, for a pipe, by the content. Imports `yaml` on first use, because it loads slowly. */
const parse = async (path: string, text: string): Promise<unknown> => {
  if (!/\.ya?ml$/i.test(path)) {
    try {
      return JSON.parse(text)
    } catch (error) {
      if (/\.json$/i.test(path)) throw error
    }
  }
  const yaml = await import("yaml")
  return yaml.parse(text)
}

const firstLine = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause)).split("\n", 1)[0] ?? ""

/**
 * Reads fixtures from a JSON or YAML file or pipe: by its extension, or by its content if it has neither extension. An error is one
 * sentence that names the file and the field.
 *
 * @since 0.1.0
 * @category reading
 */
export const read = (path: string): Effect.Effect<Fixtures, SandboxError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const refuse = (problem: string, cause?: unknown) =>
      new SandboxError({ message: `the fixtures ${path} can't be used: ${problem}`, cause })
    const text = yield* TextFile.read("the fixtures", path)
    const data = yield* Effect.tryPromise({ try: () => parse(path, text), catch: (cause) => refuse(firstLine(cause), cause) })
    return yield* Effect.fromResult(Result.mapError(decode(data), (problem) => refuse(problem)))
  })
