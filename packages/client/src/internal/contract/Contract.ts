/**
 * Compiles an operation of the domain to encoders of its request and a decoder of its response.
 *
 * @since 0.1.0
 */
import type { UnrecognizedError } from "@plaza/domain/Errors"
import { commonErrors, operations } from "@plaza/domain/Operations"
import type { CommonError, ErrorOf, Operation as Definition, OperationName, TypeOf, WriteName } from "@plaza/domain/Operations"
import * as PathSegment from "@plaza/domain/PathSegment"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { InvalidInput } from "../../ClientError.ts"
import type { CallFailure, OutcomeUnknown } from "../../ClientError.ts"

/** @since 0.1.0 @category models */
export type { OperationName, SuccessOf } from "@plaza/domain/Operations"

/**
 * The failures of an operation: its error codes in the contract, the failures of any call, and for a write `OutcomeUnknown`.
 *
 * @since 0.1.0
 * @category models
 */
export type FailureOf<Name extends OperationName> =
  | CommonError
  | ErrorOf<Name>
  | UnrecognizedError
  | CallFailure
  | (Name extends WriteName ? OutcomeUnknown : never)

/**
 * The request of an operation in the contract: its path, query and payload. The caller passes a multipart payload as a body.
 *
 * @since 0.1.0
 * @category models
 */
export type RequestOf<Name extends OperationName> =
  & ([TypeOf<Name, "parameters">] extends [never] ? unknown : { readonly path: TypeOf<Name, "parameters"> })
  & ([TypeOf<Name, "query">] extends [never] ? unknown : { readonly urlParams: TypeOf<Name, "query"> })
  & ([TypeOf<Name, "payload">] extends [never] ? unknown : { readonly payload: TypeOf<Name, "payload"> })

type Encode<I = unknown> = (value: unknown) => Result.Result<I, InvalidInput>

type Texts = Readonly<Record<string, string | undefined>>

/** @since 0.1.0 @category models */
export interface Operation extends Pick<Definition, "area" | "method" | "delivery" | "mayBeEmpty"> {
  readonly name: OperationName
  readonly listed: ReadonlySet<string>
  readonly path: Encode<string>
  readonly query: Encode<Texts>
  /** Undefined if the operation has no JSON body. */
  readonly payload: Encode | undefined
  readonly decode: (body: unknown) => Result.Result<unknown, string>
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** The first issue: one sentence that names the field. */
const summary = ({ issue }: Schema.SchemaError): { readonly field: string; readonly message: string } => {
  const [first] = format(issue).issues
  const field = (first?.path ?? []).map((segment) => String(typeof segment === "object" ? segment.key : segment)).join(".")
  const message = first?.message ?? "can't be used"
  // The words of the platform for a field that is absent.
  return { field, message: field === "" ? message : message === "Missing key" ? `${field} is missing` : `${field}: ${message}` }
}

/** Encodes with a schema. The failure is one sentence that names the field. */
const encoder = <I>(schema: Schema.Encoder<I>): Encode<I> => {
  const encode = Schema.encodeUnknownResult(schema)
  return (value) => Result.mapError(encode(value), (error) => new InvalidInput(summary(error)))
}

/**
 * Decodes with a schema. The failure is one sentence that names the field.
 *
 * @since 0.1.0
 * @category decoding
 */
export const decoder = <A>(schema: Schema.Decoder<A>): (body: unknown) => Result.Result<A, string> => {
  const decode = Schema.decodeUnknownResult(schema)
  return (body) => Result.mapError(decode(body), (error) => summary(error).message)
}

const pathEncoder = (template: string, schema: Schema.Encoder<Texts>): Operation["path"] => {
  const encode = encoder(schema)
  return (parameters) =>
    Result.map(
      encode(parameters),
      (encoded) => template.replace(/:(\w+)/g, (_, name: string) => PathSegment.encode(encoded[name] ?? ""))
    )
}

const compile = (name: OperationName): Operation => {
  const definition: Definition = operations[name]
  const { area, delivery, errors, mayBeEmpty, method, parameters, path, payload, query, success } = definition
  let decode: Operation["decode"] | undefined
  return {
    name,
    area,
    method,
    delivery,
    mayBeEmpty,
    listed: new Set([...commonErrors, ...errors]),
    path: parameters === undefined ? () => Result.succeed(path) : pathEncoder(path, parameters),
    query: query === undefined ? () => Result.succeed({}) : encoder(query),
    // True because no schema of the catalogue requires a service.
    payload: payload === undefined ? undefined : encoder(payload as Schema.Encoder<unknown>),
    // Compiled on first use, because lists have their own decoder. True for the same reason.
    decode: (body) => (decode ??= decoder(success as Schema.Decoder<unknown>))(body)
  }
}

const compiled = new Map<OperationName, Operation>()

/**
 * Returns a compiled operation. The first call for each name compiles it.
 *
 * @since 0.1.0
 * @category contract
 */
export const operation = (name: OperationName): Operation => {
  const operation = compiled.get(name) ?? compile(name)
  compiled.set(name, operation)
  return operation
}
