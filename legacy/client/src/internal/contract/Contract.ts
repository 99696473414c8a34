/**
 * Compiles an operation of the domain to encoders of its request and a decoder of its response.
 *
 * @since 0.1.0
 */
import type { UnrecognizedError } from "@plaza-legacy/domain/Errors"
import * as NestingDepth from "@plaza-legacy/domain/NestingDepth"
import { commonErrors, operations } from "@plaza-legacy/domain/Operations"
import type {
  CommonError,
  ErrorOf,
  MethodOf,
  Operation as Definition,
  OperationName,
  ParametersOf,
  PayloadOf,
  QueryOf
} from "@plaza-legacy/domain/Operations"
import * as PathSegment from "@plaza-legacy/domain/PathSegment"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { InvalidInput } from "../../ClientError.ts"
import type { CallFailure, OutcomeUnknown } from "../../ClientError.ts"
import { decodeUnknownEither } from "./Decoder.ts"

/** @since 0.1.0 @category models */
export type { OperationName, SuccessOf } from "@plaza-legacy/domain/Operations"

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
  | (MethodOf<Name> extends "GET" ? never : OutcomeUnknown)

/**
 * The request of an operation in the contract: its path, query and payload. The caller passes a multipart payload as a body.
 *
 * @since 0.1.0
 * @category models
 */
export type RequestOf<Name extends OperationName> =
  & ([ParametersOf<Name>] extends [never] ? unknown : { readonly path: ParametersOf<Name> })
  & ([QueryOf<Name>] extends [never] ? unknown : { readonly urlParams: QueryOf<Name> })
  & ([PayloadOf<Name>] extends [never] ? unknown : { readonly payload: PayloadOf<Name> })

type Encode<I = unknown> = (value: unknown) => Either.Either<I, InvalidInput>

type Query = Readonly<Record<string, string | undefined>>

/** @since 0.1.0 @category models */
export interface Operation extends Pick<Definition, "area" | "method" | "delivery" | "mayBeEmpty"> {
  readonly name: OperationName
  readonly listed: ReadonlySet<string>
  readonly path: (params: unknown) => Either.Either<string, InvalidInput>
  readonly query: Encode<Query>
  /** Undefined if the operation has no JSON body. */
  readonly payload: Encode | undefined
  readonly decode: (body: unknown) => Either.Either<unknown, string>
}

const summary = (issues: ReadonlyArray<ParseResult.ArrayFormatterIssue>): { field: string; message: string } => {
  const field = issues[0]?.path.map(String).join(".") ?? ""
  const message = issues[0]?.message ?? "can't be used"
  return { field, message: field === "" ? message : `${field}: ${message}` }
}

/** Encodes with a schema. The failure is one sentence that names the field. */
const encoder = <A, I>(schema: Schema.Schema<A, I>): Encode<I> => {
  const encode = Schema.encodeUnknownEither(schema)
  return (value) =>
    Either.mapLeft(
      encode(value),
      (error) => new InvalidInput(summary(ParseResult.ArrayFormatter.formatErrorSync(error)))
    )
}

// The messages of Schema contain the value, by a recursive function.
const maxShownDepth = 100

/**
 * Decodes with a schema. The failure is one sentence that names the field, if the body is not nested too deeply to be shown.
 *
 * @since 0.1.0
 * @category encoding
 */
export const decoder = <A, I>(schema: Schema.Schema<A, I>) => {
  const decode = decodeUnknownEither(schema)
  return (body: unknown): Either.Either<A, string> =>
    Either.mapLeft(decode(body), (error) =>
      NestingDepth.isBeyond(body, maxShownDepth)
        ? `it has another form, and is nested in more than ${maxShownDepth} levels`
        : summary(ParseResult.ArrayFormatter.formatErrorSync(error)).message)
}

const noQuery: Encode<Query> = () => Either.right({})

/** Whether a schema accepts any object. Encoding would copy the object without a property "__proto__". */
const isAnyObject = (ast: AST.AST): boolean =>
  AST.isTypeLiteral(ast) && ast.propertySignatures.length === 0 && ast.indexSignatures.some(({ type }) => AST.isUnknownKeyword(type))

/** As {@link encoder}, but returns an object of any form unchanged. */
const payloadEncoder = (schema: Schema.Schema.AnyNoContext): Encode => {
  const encode = encoder<unknown, unknown>(schema)
  return isAnyObject(schema.ast) ? (value) => Either.map(encode(value), () => value) : encode
}

const pathEncoder = (template: string, schema: Schema.Schema.AnyNoContext): Operation["path"] => {
  const encode = encoder<unknown, unknown>(schema)
  return (params) =>
    Either.map(encode(params), (encoded) => {
      const values = new Map(Object.entries(encoded ?? {}))
      return template.replace(/:(\w+)/g, (_, name: string) => PathSegment.encode(String(values.get(name))))
    })
}

const compile = (name: OperationName): Operation => {
  const { area, delivery, errors, mayBeEmpty, method, parameters, path, payload, query, success }: Definition = operations[name]
  let decode: Operation["decode"] | undefined
  return {
    name,
    area,
    method,
    delivery,
    mayBeEmpty,
    listed: new Set([...commonErrors, ...errors]),
    path: parameters === undefined ? () => Either.right(path) : pathEncoder(path, parameters()),
    query: query === undefined ? noQuery : encoder<unknown, Query>(query()),
    payload: payload === undefined ? undefined : payloadEncoder(payload()),
    // Compiled on first use, because lists have their own decoder.
    decode: (body) => (decode ??= decoder<unknown, unknown>(success()))(body)
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
  const known = compiled.get(name) ?? compile(name)
  compiled.set(name, known)
  return known
}
