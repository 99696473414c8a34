/**
 * The operations of an API with the properties that the sandbox derives from their schemas: the area, the kind of body, the
 * action and the resource of the response.
 *
 * @since 0.1.0
 */
import * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import type * as HttpRouter from "@effect/platform/HttpRouter"
import * as Arr from "effect/Array"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"

/** @since 0.1.0 @category models */
export interface Operation {
  readonly name: string
  /** Its area, such as `posts`. */
  readonly group: string
  readonly method: string
  /** As in the contract, with a colon before each parameter. */
  readonly path: string
  readonly body: "none" | "json" | "file"
  /** The effect of a successful request. An `update` changes the resource that its path identifies; a `confirm` has no resource. */
  readonly action: "read" | "upload" | "create" | "update" | "confirm"
  /** The schema identifier of the resource in the response, such as `Post`; of a list that of its items. */
  readonly resource: string | undefined
  readonly isList: boolean
  /** Removes the fields of a response that the contract doesn't show. */
  readonly documented: (response: unknown) => unknown
}

/**
 * The schema of the body of a successful response; none if it never has a body.
 *
 * @since 0.1.0
 * @category schemas
 */
export const bodySchema = ({ ast }: Schema.Schema.All): Option.Option<Schema.Schema<unknown, unknown>> => {
  const members = (AST.isUnion(ast) ? ast.types : [ast]).filter((member) => !HttpApiSchema.isVoid(member))
  return members.length === 0 ? Option.none() : Option.some(Schema.make(AST.Union.make(members)))
}

const documented = (success: Schema.Schema.All): Operation["documented"] =>
  Option.match(bodySchema(success), {
    onNone: () => (response) => response,
    // Compiled on each call, which is rare.
    onSome: (schema) => (response) => Schema.decodeUnknownSync(Schema.encodedSchema(schema))(response)
  })

const fieldOf = (ast: AST.AST | undefined, name: string): AST.AST | undefined => {
  const object = ast !== undefined && AST.isTransformation(ast) ? ast.from : ast
  return object !== undefined && AST.isTypeLiteral(object)
    ? object.propertySignatures.find((signature) => signature.name === name)?.type
    : undefined
}

const itemOf = (page: AST.AST | undefined): AST.AST | undefined => {
  const items = fieldOf(page, "data")
  return items !== undefined && AST.isTupleType(items) ? items.rest[0]?.type : undefined
}

/** Whether a path has the id of a resource as its parameter `id`. */
const identifies = (path: Option.Option<Schema.Schema.All>, resource: AST.AST | undefined): boolean => {
  const id = fieldOf(resource, "id")
  const parameter = fieldOf(Option.getOrUndefined(path)?.ast, "id")
  return id !== undefined && parameter !== undefined && AST.isRefinement(parameter) && parameter.from === id
}

/**
 * Every operation of an API.
 *
 * @since 0.1.0
 * @category constructors
 */
export const operationsOf = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>
): ReadonlyArray<Operation> => {
  const operations: Array<Operation> = []
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint: { method, name, path, pathSchema, payloadSchema, successSchema }, group: { identifier } }) => {
      const isFile = Option.exists(payloadSchema, ({ ast }) => HttpApiSchema.getMultipartStream(ast) !== undefined)
      const success = Option.getOrUndefined(bodySchema(successSchema))?.ast
      const item = itemOf(success)
      const resource = item ?? success
      operations.push({
        name,
        group: identifier,
        method,
        path,
        body: isFile ? "file" : Option.isSome(payloadSchema) ? "json" : "none",
        action: method === "GET"
          ? "read"
          : isFile
          ? "upload"
          : Option.isNone(payloadSchema)
          ? "confirm"
          : identifies(pathSchema, resource)
          ? "update"
          : "create",
        resource: resource === undefined ? undefined : Option.getOrUndefined(AST.getIdentifierAnnotation(resource)),
        isList: item !== undefined,
        documented: documented(successSchema)
      })
    }
  })
  return operations
}

/**
 * Makes a function that finds the operation of a route. `prefix` is the prefix of all routes.
 *
 * @since 0.1.0
 * @category constructors
 */
export const byRoute = (
  operations: ReadonlyArray<Operation>,
  prefix = ""
): (route: HttpRouter.Route<unknown, unknown>) => Operation | undefined => {
  // By the path alone, because every request does this, and a joined text would have to be hashed each time.
  const byPath = new Map(Object.entries(Arr.groupBy(operations, ({ path }) => `${prefix}${path}`)))
  return ({ method, path }) => byPath.get(path)?.find((operation) => operation.method === method)
}
