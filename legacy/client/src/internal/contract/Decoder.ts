/**
 * `Schema.decodeUnknownEither`, faster for valid input. Schema's parser tracks every step for its error messages, and reads a struct
 * with transformed fields once for each side. The steps here are compiled from the same syntax tree and track nothing. Schema's
 * parser decodes the input that they reject, and reports the error. Decision 021 has the figures.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"

type Step = (input: unknown) => unknown

/** The result of a step for input that is invalid or that only Schema's parser can decode. */
const rejected = Symbol("rejected")

const valueOf = (result: unknown): unknown => Either.isEither(result) && Either.isRight(result) ? result.right : rejected

/** Schema's parser, for a type without a step here. */
const bySchema = (ast: AST.AST): Step => {
  const decode = ParseResult.decodeUnknownEither(Schema.make<unknown, unknown>(ast))
  return (input) => valueOf(decode(input))
}

const firstOf = (steps: ReadonlyArray<Step>): Step => (input) => {
  for (const step of steps) {
    const value = step(input)
    if (value !== rejected) {
      return value
    }
  }
  return rejected
}

const arrayOf = (item: Step): Step => (input) => {
  if (!Array.isArray(input)) {
    return rejected
  }
  const output: Array<unknown> = []
  for (const element of input) {
    const value = item(element)
    if (value === rejected) {
      return rejected
    }
    output.push(value)
  }
  return output
}

/** One side of a field. */
interface Side {
  readonly name: PropertyKey
  readonly isOptional: boolean
  readonly step: Step
}

interface Field {
  readonly from: Side
  readonly to: Side
  /** The transformation between the sides (default: none, and `to` needs no check). */
  readonly convert: AST.PropertySignatureTransformation["decode"] | undefined
}

const struct = (fields: ReadonlyArray<Field>): Step => (input) => {
  if (!Predicate.isRecord(input)) {
    return rejected
  }
  const output: Record<PropertyKey, unknown> = {}
  for (const { convert, from, to } of fields) {
    // Like Schema's parser, reads an inherited property for a required field only.
    const isRead = !from.isOptional || Object.hasOwn(input, from.name)
    let value = isRead ? from.step(input[from.name]) : undefined
    let isPresent = isRead
    if (convert !== undefined && value !== rejected) {
      const converted = convert(isRead ? Option.some(value) : Option.none())
      isPresent = Option.isSome(converted) || !to.isOptional
      value = isPresent ? to.step(Option.getOrUndefined(converted)) : undefined
    }
    if (value === rejected) {
      return rejected
    }
    if (isPresent) {
      output[to.name] = value
    }
  }
  return output
}

const sideOf = ({ isOptional, name, type }: AST.PropertySignature): Side => ({ name, isOptional, step: stepOf(type) })

/** Whether a type has parse options, which apply to all types below it, or a fallback. Only Schema's parser supports these. */
const hasParseAnnotations = (ast: AST.AST): boolean =>
  Option.isSome(AST.getParseOptionsAnnotation(ast)) || Option.isSome(AST.getDecodingFallbackAnnotation(ast))

/** Whether a type is a struct of named fields without names that every object inherits. */
const isStruct = (ast: AST.AST): ast is AST.TypeLiteral =>
  AST.isTypeLiteral(ast) && !hasParseAnnotations(ast) && ast.indexSignatures.length === 0 && ast.propertySignatures.length > 0 &&
  ast.propertySignatures.every(({ name }) => !(name in Object.prototype))

/** The item type of an array of any length; undefined for other types. */
const itemOf = (ast: AST.AST): AST.AST | undefined =>
  AST.isTupleType(ast) && !hasParseAnnotations(ast) && ast.elements.length === 0 && ast.rest.length === 1 ? ast.rest[0]?.type : undefined

/** Whether every value of one type is a value of the other type, so that a second check is unnecessary. */
const isSameType = (type: AST.AST, other: AST.AST): boolean => {
  if (type === other) {
    return true
  }
  if (isStruct(type) && isStruct(other)) {
    return type.propertySignatures.length === other.propertySignatures.length &&
      type.propertySignatures.every(({ isOptional, name, type }, index) => {
        const field = other.propertySignatures[index]
        return field?.name === name && field.isOptional === isOptional && isSameType(type, field.type)
      })
  }
  const item = itemOf(type)
  const otherItem = itemOf(other)
  return item !== undefined && otherItem !== undefined && isSameType(item, otherItem)
}

/** The fields of a struct with transformed fields; undefined if they do not correspond one to one. */
const fieldsOf = (
  from: AST.TypeLiteral,
  to: AST.TypeLiteral,
  transformations: ReadonlyArray<AST.PropertySignatureTransformation>
): ReadonlyArray<Field> | undefined => {
  const sources = new Map(from.propertySignatures.map((source) => [source.name, source]))
  const isSwapped = transformations.some((one) => one.from !== one.to && sources.has(one.to))
  const fields = to.propertySignatures.flatMap((target): ReadonlyArray<Field> => {
    const transformation = transformations.find((one) => one.to === target.name)
    const source = sources.get(transformation?.from ?? target.name)
    if (source === undefined || !sources.delete(source.name)) {
      return []
    }
    const isRead = transformation === undefined && isSameType(AST.typeAST(source.type), target.type)
    return [{ from: sideOf(source), to: sideOf(target), convert: isRead ? undefined : transformation?.decode ?? identity }]
  })
  return isSwapped || sources.size > 0 || fields.length < to.propertySignatures.length ? undefined : fields
}

const transformation = (ast: AST.Transformation): Step => {
  const { from, to, transformation } = ast
  if (AST.isTypeLiteralTransformation(transformation)) {
    const fields = isStruct(from) && isStruct(to) ? fieldsOf(from, to, transformation.propertySignatureTransformations) : undefined
    return fields === undefined ? bySchema(ast) : struct(fields)
  }
  const before = stepOf(from)
  const after = stepOf(to)
  const convert = AST.isFinalTransformation(transformation)
    ? (value: unknown, input: unknown) => valueOf(transformation.decode(value, AST.defaultParseOption, ast, input))
    : identity
  return (input) => {
    const value = before(input)
    const converted = value === rejected ? rejected : convert(value, input)
    return converted === rejected ? rejected : after(converted)
  }
}

const when = (isValid: (input: unknown) => boolean): Step => (input) => isValid(input) ? input : rejected

// Members of other kinds may accept the same input, and Schema's parser has its own order for them.
const isPrimitive = (ast: AST.AST): boolean =>
  AST.isLiteral(ast) || AST.isStringKeyword(ast) || AST.isNumberKeyword(ast) || AST.isBooleanKeyword(ast) || AST.isUndefinedKeyword(ast)

const stepOf = (ast: AST.AST): Step => {
  if (hasParseAnnotations(ast)) {
    return bySchema(ast)
  }
  switch (ast._tag) {
    case "StringKeyword":
      return when((input) => typeof input === "string")
    case "NumberKeyword":
      return when((input) => typeof input === "number")
    case "BooleanKeyword":
      return when((input) => typeof input === "boolean")
    case "UndefinedKeyword":
      return when((input) => input === undefined)
    case "Literal":
      return when((input) => input === ast.literal)
    case "Refinement": {
      const from = stepOf(ast.from)
      return (input) => {
        const value = from(input)
        return value !== rejected && Option.isNone(ast.filter(value, AST.defaultParseOption, ast)) ? value : rejected
      }
    }
    case "Declaration": {
      const decode = ast.decodeUnknown(...ast.typeParameters)
      return (input) => valueOf(decode(input, AST.defaultParseOption, ast))
    }
    case "TupleType": {
      const item = itemOf(ast)
      return item === undefined ? bySchema(ast) : arrayOf(stepOf(item))
    }
    case "TypeLiteral":
      return isStruct(ast)
        ? struct(ast.propertySignatures.map((one) => ({ from: sideOf(one), to: sideOf(one), convert: undefined })))
        : bySchema(ast)
    case "Union":
      return ast.types.filter((member) => !isPrimitive(member)).length > 1 ? bySchema(ast) : firstOf(ast.types.map(stepOf))
    case "Transformation":
      return transformation(ast)
    case "AnyKeyword":
    case "UnknownKeyword":
    case "VoidKeyword":
      return identity
    case "BigIntKeyword":
    case "Enums":
    case "NeverKeyword":
    case "ObjectKeyword":
    case "Suspend":
    case "SymbolKeyword":
    case "TemplateLiteral":
    case "UniqueSymbol":
      return bySchema(ast)
  }
}

const stepsOf = new WeakMap<AST.AST, Step>()

/**
 * `Schema.decodeUnknownEither`, faster for valid input.
 *
 * @since 0.1.0
 * @category decoding
 */
export const decodeUnknownEither = <A, I>(schema: Schema.Schema<A, I>) => {
  const step = stepsOf.get(schema.ast) ?? stepOf(schema.ast)
  stepsOf.set(schema.ast, step)
  return (input: unknown): Either.Either<A, ParseResult.ParseError> => {
    const value = step(input)
    // True because the steps are compiled from the schema, so they return a value of its type.
    return value === rejected ? Schema.decodeUnknownEither(schema)(input) : Either.right(value as A)
  }
}
