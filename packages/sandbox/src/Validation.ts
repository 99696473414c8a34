/**
 * What every layer needs to check input: the refusals of a field and of an unknown id, checks of texts and numbers whose bounds the
 * document leaves open, schemas with readable messages, and the issues of a schema.
 */
import { NotFound, ValidationError } from "@plaza/domain/Errors"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"
import { distance } from "fastest-levenshtein"

/**
 * The refusal of a parameter or field. The envelope names it as `field`. The name is assumed: the document only says that
 * the error names the invalid field.
 */
export const invalidField = (field: string, problem: string): ValidationError =>
  new ValidationError({ message: `"${field}" ${problem}`, details: { field } })

/** The refusal of an unknown id, or of one that the caller can't see. The envelope repeats the id. */
export const notFound = (resource: string, id: string): NotFound =>
  new NotFound({
    message: `there is no ${resource} "${id}", or this account can't see it`,
    details: { resource, id }
  })

/** The refusal of an unknown id of the control API and of the pages, where every caller sees everything. */
export const unknown = (resource: string, id: string, hint = ""): NotFound =>
  new NotFound({ message: `there is no ${resource} "${id}"${hint}`, details: { resource, id } })

/** The refusal of a request that the log doesn't have, or no longer. */
export const unknownRequest = (id: string): NotFound => unknown("request", id, " in the log: it keeps the newest ones until a reset")

/** Fails with `ValidationError` if a text is empty, longer than `max` code points, or not storable. */
export const checkText = (field: string, text: string, max: number): Effect.Effect<void, ValidationError> => {
  const problem = text === ""
    ? "must not be empty"
    // The cheap check first: a text never has more code points than code units.
    : text.length > max && Array.from(text).length > max
    ? `must have at most ${max} characters`
    : text.includes("\0")
    ? "must not hold the character U+0000"
    : /\p{Surrogate}/u.test(text)
    ? "must be well-formed Unicode"
    : undefined
  return problem === undefined ? Effect.void : Effect.fail(invalidField(field, problem))
}

/** Fails with `ValidationError` if a stock isn't a whole number from 0 to `max`. */
export const checkStock = (field: string, stock: number, max: number): Effect.Effect<void, ValidationError> =>
  Number.isInteger(stock) && stock >= 0 && stock <= max
    ? Effect.void
    : Effect.fail(invalidField(field, `must be a whole number from 0 to ${max}`))

/** A field that may be absent. Undefined is not a value of it. */
export const optional = <S extends Schema.Top>(schema: S): Schema.optionalKey<S> => Schema.optionalKey(schema)

/** Marks the message of the last check as that of the whole schema. */
const ofWholeSchema = "@plaza/sandbox/ofWholeSchema"

/** A schema whose error is `must be ...`. */
export const described = <S extends Schema.Top>(schema: S, problem: string): S["Rebuild"] =>
  schema.annotate({ message: `must be ${problem}`, [ofWholeSchema]: true })

/** One of some literals, with an error that lists all of them. */
export const oneOf = <const Words extends ReadonlyArray<SchemaAST.LiteralValue>>(words: Words) =>
  described(Schema.Literals(words), `one of ${words.join(", ")}`)

/** A whole number of at least 0. */
export const nonNegativeInt = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** A problem of one value. `names` has the known fields if the field is unexpected. */
export interface Issue {
  readonly path: ReadonlyArray<PropertyKey>
  readonly tag: "Missing" | "Unexpected" | "Other"
  readonly message: string
  readonly names: ReadonlyArray<string>
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const messageOf = (issue: SchemaIssue.Issue): string | undefined => {
  if (!("ast" in issue)) {
    return undefined
  }
  const last = issue.ast.checks?.at(-1)?.annotations
  const message = issue.ast.annotations?.["message"] ?? (last?.[ofWholeSchema] === true ? last["message"] : undefined)
  return typeof message === "string" ? message : undefined
}

const walk = (issue: SchemaIssue.Issue, path: ReadonlyArray<PropertyKey>): ReadonlyArray<Issue> => {
  // The message of an outer schema replaces those of its parts.
  const message = messageOf(issue)
  if (message !== undefined) {
    return [{ path, tag: "Other", message, names: [] }]
  }
  switch (issue._tag) {
    case "Pointer":
      return walk(issue.issue, [...path, ...issue.path])
    case "Encoding":
      return walk(issue.issue, path)
    case "Composite":
      return issue.issues.flatMap((inner) => walk(inner, path))
    case "AnyOf":
      return issue.issues.length === 0 ? undecided(issue, path) : issue.issues.flatMap((inner) => walk(inner, path))
    case "InvalidType":
      return mistyped(issue, path)
    case "MissingKey":
      return [{ path, tag: "Missing", message: "is missing", names: [] }]
    case "UnexpectedKey":
      return [{
        path,
        tag: "Unexpected",
        message: "is not a known field",
        names: issue.ast._tag === "Objects" ? issue.ast.propertySignatures.map(({ name }) => String(name)) : []
      }]
    case "Filter":
    case "Forbidden":
    case "InvalidValue":
    case "OneOf":
      return leaf(issue, path)
  }
}

/** The discriminator of a union, with its values. */
const discriminatorOf = ({ types }: SchemaAST.Union) => {
  const members = types.flatMap((type) =>
    type._tag === "Objects"
      ? [type.propertySignatures.flatMap(({ name, type }) => type._tag === "Literal" ? [{ name, value: type.literal }] : [])]
      : []
  )
  const name = members[0]?.find((field) => members.every((fields) => fields.some(({ name }) => name === field.name)))?.name
  return name === undefined ? undefined : {
    name,
    values: members.flatMap((fields) => fields.flatMap((field) => field.name === name ? [field.value] : []))
  }
}

/** No member of a union has the discriminator of the input. */
const undecided = (issue: SchemaIssue.AnyOf, path: ReadonlyArray<PropertyKey>): ReadonlyArray<Issue> => {
  const discriminator = discriminatorOf(issue.ast)
  if (discriminator === undefined || !Predicate.isObject(issue.input)) {
    return mistyped(issue, path)
  }
  const { name, values } = discriminator
  const found = Object.hasOwn(issue.input, name)
  return [{
    path: [...path, name],
    tag: found ? "Other" : "Missing",
    message: found ? `must be one of ${values.join(", ")}` : "is missing",
    names: []
  }]
}

const typeNames: Readonly<Record<string, string>> = {
  String: "string",
  Number: "number",
  Boolean: "boolean",
  Objects: "object",
  Arrays: "array"
}

/** The JSON types of a schema, apart from those of an absent value; undefined for literals. */
const typesOf = (ast: SchemaAST.AST): ReadonlyArray<string | undefined> =>
  ast._tag === "Union"
    ? ast.types.filter(({ _tag }) => _tag !== "Undefined" && _tag !== "Null").flatMap(typesOf)
    : [typeNames[ast._tag]]

/** The expected JSON type, which tells a caller more than the name of a schema. */
const mistyped = (issue: SchemaIssue.InvalidType | SchemaIssue.AnyOf, path: ReadonlyArray<PropertyKey>): ReadonlyArray<Issue> => {
  const types = typesOf(issue.ast)
  const options = { reportInput: "input" in issue }
  return leaf(
    types.length === 0 || types.includes(undefined)
      ? new SchemaIssue.InvalidType(issue.ast, issue.input, options)
      : new SchemaIssue.InvalidValue({ expected: [...new Set(types)].join(" or ") }, issue.input, options),
    path
  )
}

const leaf = (issue: SchemaIssue.Issue, path: ReadonlyArray<PropertyKey>): ReadonlyArray<Issue> =>
  format(issue).issues.map((found) => ({
    path: [...path, ...(found.path ?? []).map((part) => typeof part === "object" ? part.key : part)],
    tag: "Other",
    message: found.message,
    names: []
  }))

/** The issues of a schema in the order of the input. */
export const issuesOf = (error: Schema.SchemaError): ReadonlyArray<Issue> => walk(error.issue, [])

const maxProblemLength = 300

const cut = (text: string): string => text.length > maxProblemLength ? `${text.slice(0, maxProblemLength - 1)}…` : text

/** The message of an issue, with the known names for an unexpected field. */
export const problemOf = ({ message, names, path, tag }: Issue): string => {
  if (tag !== "Unexpected") {
    return message
  }
  const written = String(path.at(-1)).toLowerCase()
  const similar = names.filter((name) => distance(written, name.toLowerCase()) <= 2)
  return `${message}: ${similar.length === 0 ? `use one of ${names.join(", ")}` : `did you mean ${similar.join(" or ")}?`}`
}

const sentenceOf = (issue: Issue): string => {
  const problem = problemOf(issue)
  return issue.tag !== "Other" || problem.startsWith("must ") ? problem : `is invalid: ${problem}`
}

/** The refusal of an input that doesn't match its schema. It names the first wrong field. */
export const invalidInput = (error: Schema.SchemaError): ValidationError => {
  const [issue] = issuesOf(error)
  return issue === undefined
    ? invalidField("body", "is invalid")
    : invalidField(issue.path.length === 0 ? "body" : issue.path.map(String).join("."), cut(sentenceOf(issue)))
}
