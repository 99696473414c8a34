/**
 * Writes answers by their schema, by the shortest way. The compiler has already held every handler's result to the
 * contract, so what the schema would leave as it is is taken as it is, and only what it writes otherwise is touched: a
 * field by another name, a date. The steps are made from the schema's own syntax tree. Knows nothing of any particular
 * schema.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"

type Step = (value: unknown) => unknown

/** The step of what is written as it is held, whole: recognized by being this one. */
const same: Step = (value) => value

const bySchema = (ast: AST.AST): Step => ParseResult.encodeUnknownSync(Schema.make(ast))

interface Field {
  readonly from: PropertyKey
  readonly to: PropertyKey
  readonly encode: AST.PropertySignatureTransformation["encode"] | undefined
  readonly step: Step
}

const stepOfField = (type: AST.TypeLiteral, name: PropertyKey): Step => {
  const field = type.propertySignatures.find((signature) => signature.name === name)
  return field === undefined ? same : stepOf(field.type)
}

/** Fields that no step touches, and those that the schema doesn't know, are copied. */
const rewriting = (fields: ReadonlyArray<Field>): Step => (value) => {
  // Held to the schema's type by the compiler, which is a struct's here.
  const output = { ...value as Record<PropertyKey, unknown> }
  for (const { encode, from, step, to } of fields) {
    const given = Object.hasOwn(output, to) ? Option.some(output[to]) : Option.none()
    const encoded = encode === undefined ? given : encode(given)
    if (from !== to) {
      delete output[to]
    }
    if (Option.isSome(encoded)) {
      output[from] = step(encoded.value)
    } else {
      delete output[from]
    }
  }
  return output
}

const struct = (type: AST.TypeLiteral): Step => {
  const fields = type.propertySignatures
    .map(({ name, type }) => ({ from: name, to: name, encode: undefined, step: stepOf(type) }))
    .filter(({ step }) => step !== same)
  return fields.length === 0 ? same : rewriting(fields)
}

/** An optional field is told from one that is renamed or has a default by what it makes of a value and of none. */
const isKept = ({ encode, from, to }: AST.PropertySignatureTransformation): boolean => {
  return from === to && Option.contains(encode(Option.some("any")), "any") && Option.isNone(encode(Option.none()))
}

const transformedStruct = (from: AST.TypeLiteral, steps: ReadonlyArray<AST.PropertySignatureTransformation>): Step => {
  const transformed = steps.map((step) => ({
    from: step.from,
    to: step.to,
    encode: isKept(step) ? undefined : step.encode,
    step: stepOfField(from, step.from)
  }))
  const others = from.propertySignatures
    .filter(({ name }) => steps.every((step) => step.from !== name))
    .map(({ name, type }) => ({ from: name, to: name, encode: undefined, step: stepOf(type) }))
  const fields = [...transformed, ...others].filter(({ encode, step }) => encode !== undefined || step !== same)
  return fields.length === 0 ? same : rewriting(fields)
}

const stepOf = (ast: AST.AST): Step => {
  if (AST.encodedAST(ast) === AST.typeAST(ast)) {
    return same
  }
  if (AST.isTypeLiteral(ast) && ast.indexSignatures.length === 0) {
    return struct(ast)
  }
  if (AST.isTupleType(ast) && ast.elements.length === 0 && ast.rest[0] !== undefined && ast.rest.length === 1) {
    const item = stepOf(ast.rest[0].type)
    // An array, as the compiler has it.
    return item === same ? same : (value) => (value as ReadonlyArray<unknown>).map(item)
  }
  if (AST.isTransformation(ast) && AST.isTypeLiteralTransformation(ast.transformation) && AST.isTypeLiteral(ast.from) && ast.from.indexSignatures.length === 0) {
    return transformedStruct(ast.from, ast.transformation.propertySignatureTransformations)
  }
  if (AST.isUnion(ast)) {
    // No value has no body.
    const [only, ...others] = ast.types.filter((type) => !AST.isVoidKeyword(type))
    return only !== undefined && others.length === 0 ? stepOf(only) : bySchema(ast)
  }
  return bySchema(ast)
}

/**
 * What writes a value of a schema's type as the schema would with `onExcessProperty: "preserve"`.
 *
 * @since 0.1.0
 * @category encoding
 */
export const make = (schema: Schema.Schema.All): (value: unknown) => unknown => stepOf(schema.ast)
