/**
 * Reads answers by their schema, what fits by the shortest way. A schema's own parser keeps at every step what it would
 * need to tell of a failure and reads a struct whose fields are transformed once for each side, which costs several
 * times as much as the reading. So what fits is read by steps made from the same syntax tree; what doesn't is read again
 * by the schema, which finds the words for it. Knows nothing of any particular schema.
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

/** In place of a value: it doesn't fit, or only the schema's own parser can tell. */
const unfit = Symbol("unfit")

const valueOf = (result: unknown): unknown => Either.isEither(result) && Either.isRight(result) ? result.right : unfit

/** The way of the schema itself, for what has none of its own here. */
const bySchema = (ast: AST.AST): Step => {
  const decode = ParseResult.decodeUnknownEither(Schema.make<unknown, unknown>(ast))
  return (input) => valueOf(decode(input))
}

const firstOf = (steps: ReadonlyArray<Step>): Step => (input) => {
  for (const step of steps) {
    const value = step(input)
    if (value !== unfit) {
      return value
    }
  }
  return unfit
}

const arrayOf = (item: Step): Step => (input) => {
  if (!Array.isArray(input)) {
    return unfit
  }
  const output: Array<unknown> = []
  for (const element of input) {
    const value = item(element)
    if (value === unfit) {
      return unfit
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
  /** What happens to it between its sides, where both have to be read. */
  readonly convert: AST.PropertySignatureTransformation["decode"] | undefined
}

const struct = (fields: ReadonlyArray<Field>): Step => (input) => {
  if (!Predicate.isRecord(input)) {
    return unfit
  }
  const output: Record<PropertyKey, unknown> = {}
  for (const { convert, from, to } of fields) {
    const given = input[from.name]
    const isRead = given !== undefined || !from.isOptional || Object.hasOwn(input, from.name)
    let value = isRead ? from.step(given) : undefined
    let isThere = isRead
    if (convert !== undefined && value !== unfit) {
      const converted = convert(isRead ? Option.some(value) : Option.none())
      isThere = Option.isSome(converted) || !to.isOptional
      value = isThere ? to.step(Option.getOrUndefined(converted)) : undefined
    }
    if (value === unfit) {
      return unfit
    }
    if (isThere) {
      output[to.name] = value
    }
  }
  return output
}

const sideOf = ({ isOptional, name, type }: AST.PropertySignature): Side => ({ name, isOptional, step: stepOf(type) })

/** Options and fallbacks count for all that is below them, and only the schema's own parser knows of them. */
const isSteered = (ast: AST.AST): boolean =>
  Option.isSome(AST.getParseOptionsAnnotation(ast)) || Option.isSome(AST.getDecodingFallbackAnnotation(ast))

/** A struct with named fields alone, none of which is found on every object. */
const isStruct = (ast: AST.AST): ast is AST.TypeLiteral =>
  AST.isTypeLiteral(ast) && !isSteered(ast) && ast.indexSignatures.length === 0 && ast.propertySignatures.length > 0 &&
  ast.propertySignatures.every(({ name }) => !(name in Object.prototype))

/** The items' schema of an array of any length. */
const itemOf = (ast: AST.AST): AST.AST | undefined =>
  AST.isTupleType(ast) && !isSteered(ast) && ast.elements.length === 0 && ast.rest.length === 1 ? ast.rest[0]?.type : undefined

/** Whether a value that has this type, as far as its schema goes, need not be held to the other one. */
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

/** The fields of a struct some of which are transformed; undefined where they don't go one to one. */
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
    const converted = value === unfit ? unfit : convert(value, input)
    return converted === unfit ? unfit : after(converted)
  }
}

const passes = (fits: (input: unknown) => boolean): Step => (input) => fits(input) ? input : unfit

// Every other kind may take the same input as another member of a union, which then would have to be asked in the order
// that the schema's parser finds best.
const isPrimitive = (ast: AST.AST): boolean =>
  AST.isLiteral(ast) || AST.isStringKeyword(ast) || AST.isNumberKeyword(ast) || AST.isBooleanKeyword(ast) || AST.isUndefinedKeyword(ast)

const stepOf = (ast: AST.AST): Step => {
  if (isSteered(ast)) {
    return bySchema(ast)
  }
  switch (ast._tag) {
    case "StringKeyword":
      return passes((input) => typeof input === "string")
    case "NumberKeyword":
      return passes((input) => typeof input === "number")
    case "BooleanKeyword":
      return passes((input) => typeof input === "boolean")
    case "UndefinedKeyword":
      return passes((input) => input === undefined)
    case "Literal":
      return passes((input) => input === ast.literal)
    case "Refinement": {
      const from = stepOf(ast.from)
      return (input) => {
        const value = from(input)
        return value !== unfit && Option.isNone(ast.filter(value, AST.defaultParseOption, ast)) ? value : unfit
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
      return isStruct(ast) ? struct(ast.propertySignatures.map((one) => ({ from: sideOf(one), to: sideOf(one), convert: undefined }))) : bySchema(ast)
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
 * Decodes by a schema; what `Schema.decodeUnknownEither` gives, sooner where it fits.
 *
 * @since 0.1.0
 * @category decoding
 */
export const decodeUnknownEither = <A, I>(schema: Schema.Schema<A, I>) => {
  const step = stepsOf.get(schema.ast) ?? stepOf(schema.ast)
  stepsOf.set(schema.ast, step)
  return (input: unknown): Either.Either<A, ParseResult.ParseError> => {
    const value = step(input)
    // The steps are those of the schema, so that what they give is of its type.
    return value === unfit ? Schema.decodeUnknownEither(schema)(input) : Either.right(value as A)
  }
}
