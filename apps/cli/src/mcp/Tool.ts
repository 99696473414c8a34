/** A tool of `plaza mcp`: one operation of the contract, with the schemas of its arguments and of its result. */
import * as HttpApi from "@effect/platform/HttpApi"
import * as OpenApi from "@effect/platform/OpenApi"
import type { OperationName, Plaza } from "@plaza-legacy/client"
import { ClientError } from "@plaza-legacy/client"
import { Delivery, type DeliveryClass } from "@plaza-legacy/domain/Delivery"
import * as NestingDepth from "@plaza-legacy/domain/NestingDepth"
import { PlazaApiWithStories } from "@plaza-legacy/domain/PlazaApi"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as JsonSchema from "../schema/JsonSchema.ts"

/** The services that tools call. */
export type Services = Plaza.Services

/** An object of JSON. */
export type Json = Readonly<Record<string, unknown>>

export interface Tool {
  readonly name: OperationName
  readonly title: string
  readonly description: string
  readonly delivery: DeliveryClass
  /** Whether a call replaces or ends something, instead of adding to it. */
  readonly isDestructive: boolean
  readonly inputSchema: JsonSchema.JsonSchema
  readonly outputSchema: JsonSchema.JsonSchema
  /** Returns the result as JSON. Fails with `InvalidInput` for invalid arguments, before anything is sent. */
  readonly call: (args: unknown) => Effect.Effect<Json, unknown, Services>
}

interface Described {
  readonly title: string
  readonly description: string
  readonly delivery: DeliveryClass
}

const described = (): ReadonlyMap<string, Described> => {
  const found = new Map<string, Described>()
  HttpApi.reflect(PlazaApiWithStories, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, mergedAnnotations }) => {
      found.set(endpoint.name, {
        title: Option.getOrElse(Context.getOption(mergedAnnotations, OpenApi.Summary), () => endpoint.name),
        description: Option.getOrElse(Context.getOption(mergedAnnotations, OpenApi.Description), () => ""),
        // The class with the strictest rules. A test requires that each operation has its own.
        delivery: Option.getOrElse(Context.getOption(mergedAnnotations, Delivery), (): DeliveryClass => "Once")
      })
    }
  })
  return found
}

const byOperation = described()

/** What the delivery class means for a caller. */
const meanings: Readonly<Record<DeliveryClass, string>> = {
  Read: "Delivery class Read: changes nothing, and is safe to call again.",
  Repeatable: "Delivery class Repeatable: retried after a failure that leaves the outcome open, and safe to call again.",
  Checkable:
    "Delivery class Checkable: after a failure that leaves the outcome open, the outcome is checked before anything is sent again. " +
    "If the call fails with OutcomeUnknown, do not call it again before you know what happened.",
  Once:
    "Delivery class Once: not sent again after a failure that leaves the outcome open. The call then fails with OutcomeUnknown: do not " +
    "call it again before a person has checked what happened."
}

/** The levels of nesting of a value that is shown. `JSON.stringify` and the messages of Schema are recursive. */
export const maxShownDepth = 100

const invalid = (args: unknown, error: ParseResult.ParseError): ClientError.InvalidInput => {
  if (NestingDepth.isBeyond(args, maxShownDepth)) {
    const message = `the arguments have another form, and are nested in more than ${maxShownDepth} levels`
    return new ClientError.InvalidInput({ field: "", message })
  }
  const issue = ParseResult.ArrayFormatter.formatErrorSync(error)[0]
  // A caller knows no brands.
  const problem = issue?.message.replaceAll(/ & Brand<"\w+">/g, "") ?? "the arguments are invalid"
  const field = issue?.path.map(String).join(".") ?? ""
  return new ClientError.InvalidInput({
    field,
    message: `${field === "" ? "" : `${field}: `}${problem}`
  })
}

/** Creates a tool of an operation. */
export const make = <A, I, B, J extends Json, E>(
  name: OperationName,
  { input, isDestructive = false, note, output, run }: {
    readonly input: Schema.Schema<A, I>
    readonly output: Schema.Schema<B, J>
    /** A sentence in addition to the description of the contract. */
    readonly note?: string
    readonly isDestructive?: boolean
    readonly run: (input: A) => Effect.Effect<B, E, Services>
  }
): Tool => {
  const { delivery, description, title } = byOperation.get(name) ?? { title: name, description: "", delivery: "Once" }
  const decode = Schema.decodeUnknown(input, { onExcessProperty: "error" })
  const encode = Schema.encode(output)
  return {
    name,
    title,
    description: [description, ...(note === undefined ? [] : [note]), meanings[delivery]].join(" "),
    delivery,
    isDestructive,
    inputSchema: JsonSchema.make(input, "strict"),
    outputSchema: JsonSchema.make(output, "allow"),
    // A result of the client is valid, so encoding it can't fail.
    call: (args) =>
      Effect.flatMap(Effect.mapError(decode(args), (error) => invalid(args, error)), (decoded) =>
        Effect.flatMap(run(decoded), (result) => Effect.orDie(encode(result))))
  }
}
