/**
 * Writes answers by their schema, by the shortest way. What fits is written by steps made from the schema's own syntax
 * tree: most fields are looked at and left as they are, a date or a field with another name on the wire is not. For what
 * doesn't fit the schema itself is asked, which finds the words for it. Knows nothing of any particular schema.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"

interface Step {
  /** Whether what comes out is what went in. */
  readonly keeps: boolean
  /** Throws when a value isn't one of the schema's. */
  readonly write: (value: unknown) => unknown
}

const anything: Step = { keeps: true, write: (value) => value }

const bySchema = (ast: AST.AST): Step => ({ keeps: false, write: ParseResult.encodeUnknownSync(Schema.make(ast)) })

const kept = (ast: AST.AST, fits: (value: unknown) => boolean): Step => {
  const { write } = bySchema(ast)
  return { keeps: true, write: (value) => fits(value) ? value : write(value) }
}

interface Field {
  readonly from: PropertyKey
  readonly to: PropertyKey
  readonly isOptional: boolean
  readonly encode: AST.PropertySignatureTransformation["encode"] | undefined
  readonly step: Step
}

/** Fields that the schema doesn't know stay. */
const struct = (ast: AST.AST, fields: ReadonlyArray<Field>): Step => {
  const { write } = bySchema(ast)
  const check = ({ isOptional, step, to }: Field, value: Record<PropertyKey, unknown>) =>
    isOptional && !Object.hasOwn(value, to) ? undefined : step.write(value[to])
  if (fields.every(({ encode, step }) => encode === undefined && step.keeps)) {
    return {
      keeps: true,
      write: (value) => {
        if (!Predicate.isRecord(value)) {
          return write(value)
        }
        for (const field of fields) {
          check(field, value)
        }
        return value
      }
    }
  }
  return {
    keeps: false,
    write: (value) => {
      if (!Predicate.isRecord(value)) {
        return write(value)
      }
      const output: Record<PropertyKey, unknown> = { ...value }
      for (const field of fields) {
        const { encode, from, step, to } = field
        if (encode === undefined) {
          const written = check(field, value)
          if (!step.keeps && Object.hasOwn(value, to)) {
            output[to] = written
          }
        } else {
          const encoded = encode(Object.hasOwn(value, to) ? Option.some(value[to]) : Option.none())
          delete output[to]
          if (Option.isSome(encoded)) {
            output[from] = step.write(encoded.value)
          } else if (!field.isOptional) {
            write(value)
          }
        }
      }
      return output
    }
  }
}

const fieldsOf = (type: AST.TypeLiteral): ReadonlyArray<Field> =>
  type.propertySignatures.map(({ isOptional, name, type }) => ({ from: name, to: name, isOptional, encode: undefined, step: stepOf(type) }))

/** An optional field is told from one that is renamed or has a default by what it makes of a value and of none. */
const leaves = ({ encode, from, to }: AST.PropertySignatureTransformation): boolean =>
  from === to && Option.contains(encode(Option.some("any")), "any") && Option.isNone(encode(Option.none()))

const transformedFields = (
  from: AST.TypeLiteral,
  transformations: ReadonlyArray<AST.PropertySignatureTransformation>
): ReadonlyArray<Field> =>
  fieldsOf(from).map((field) => {
    const transformation = transformations.find((transformation) => transformation.from === field.from)
    return transformation === undefined || leaves(transformation)
      ? field
      : { ...field, to: transformation.to, encode: transformation.encode }
  })

const isNull = (ast: AST.AST): boolean => AST.isLiteral(ast) && ast.literal === null
const isNothing = (ast: AST.AST): boolean => AST.isVoidKeyword(ast) || AST.isUndefinedKeyword(ast)

/** Of one schema and null or nothing; any other union is the schema's own affair. */
const union = (ast: AST.Union): Step => {
  const [only, ...others] = ast.types.filter((type) => !isNothing(type) && !isNull(type))
  if (only === undefined || others.length > 0) {
    return bySchema(ast)
  }
  const { keeps, write } = stepOf(only)
  const nullable = ast.types.some(isNull)
  const optional = ast.types.some(isNothing)
  return {
    keeps,
    write: (value) => value === null && nullable || value === undefined && optional ? value : write(value)
  }
}

const arrayOf = (ast: AST.AST, item: Step): Step => {
  const { write } = bySchema(ast)
  return {
    keeps: item.keeps,
    write: (value) => {
      if (!Array.isArray(value)) {
        return write(value)
      }
      const items: ReadonlyArray<unknown> = value
      const written = items.map(item.write)
      return item.keeps ? items : written
    }
  }
}

const stepOf = (ast: AST.AST): Step => {
  if (AST.isStringKeyword(ast)) {
    return kept(ast, Predicate.isString)
  }
  if (AST.isUnknownKeyword(ast)) {
    return anything
  }
  if (AST.isUnion(ast)) {
    return union(ast)
  }
  if (AST.isTupleType(ast) && ast.elements.length === 0 && ast.rest[0] !== undefined && ast.rest.length === 1) {
    return arrayOf(ast, stepOf(ast.rest[0].type))
  }
  if (AST.isTypeLiteral(ast) && ast.indexSignatures.length === 0) {
    return struct(ast, fieldsOf(ast))
  }
  return AST.isTransformation(ast) && AST.isTypeLiteralTransformation(ast.transformation) && AST.isTypeLiteral(ast.from) &&
      ast.from.indexSignatures.length === 0
    ? struct(ast, transformedFields(ast.from, ast.transformation.propertySignatureTransformations))
    : bySchema(ast)
}

/**
 * What writes a value of a schema's type as the schema would with `onExcessProperty: "preserve"`. Throws when it isn't
 * one.
 *
 * @since 0.1.0
 * @category encoding
 */
export const make = (schema: Schema.Schema.All): (value: unknown) => unknown => stepOf(schema.ast).write
