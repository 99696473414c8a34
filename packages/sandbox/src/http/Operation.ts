/**
 * The operations of an api as the sandbox's rules see them: which area one belongs to, what kind of body it takes, and
 * which fields of its response the contract shows.
 *
 * @since 0.1.0
 */
import * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import type * as HttpRouter from "@effect/platform/HttpRouter"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"

/** @since 0.1.0 @category models */
export interface Operation {
  readonly name: string
  /** The area that it belongs to. */
  readonly group: string
  readonly method: string
  /** As the contract writes it, with a colon before each parameter. */
  readonly path: string
  readonly body: "none" | "json" | "file"
  /** Leaves out of a response what the contract doesn't show. */
  readonly documented: (response: unknown) => unknown
}

/**
 * The schema of the body of a success; none where there never is one.
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
    // Compiled when it is needed, which is rare.
    onSome: (schema) => (response) => Schema.decodeUnknownSync(Schema.encodedSchema(schema))(response)
  })

/**
 * Every operation of an api.
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
    onEndpoint: ({ endpoint: { method, name, path, payloadSchema, successSchema }, group: { identifier } }) => {
      const isFile = Option.exists(payloadSchema, ({ ast }) => HttpApiSchema.getMultipartStream(ast) !== undefined)
      operations.push({
        name,
        group: identifier,
        method,
        path,
        body: isFile ? "file" : Option.isSome(payloadSchema) ? "json" : "none",
        documented: documented(successSchema)
      })
    }
  })
  return operations
}

/**
 * Finds the operation of a route, by the prefix that routes have.
 *
 * @since 0.1.0
 * @category constructors
 */
export const byRoute = (
  operations: ReadonlyArray<Operation>,
  prefix = ""
): (route: HttpRouter.Route<unknown, unknown>) => Operation | undefined => {
  const byKey = new Map(operations.map((operation) => [`${operation.method} ${prefix}${operation.path}`, operation]))
  return ({ method, path }) => byKey.get(`${method} ${path}`)
}
