/**
 * The interface as the sandbox serves it: the contract, `POST /stories` and the assumed operations under the base path, each behind
 * {@link AdmissionMiddleware}.
 */
import * as Operations from "@plaza/domain/Operations"
import { endpointOf } from "@plaza/domain/PlazaApi"
import { Page } from "@plaza/domain/Resources"
import * as Context from "effect/Context"
import * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import type { HttpMethod } from "effect/http/HttpMethod"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import type { Caller } from "./access/Keys.ts"
import { assumedChat, assumedPosts, assumedStore } from "./AssumedApi.ts"
import * as Resources from "./Resources.ts"

/** The path of the interface. The base URL of a sandbox ends with it. */
export const basePath = "/open/v1"

/** The account and key of the current request. */
export class CurrentCaller extends Context.Service<CurrentCaller, Caller>()("@plaza/sandbox/CurrentCaller") {}

/** A file of an upload, as admission has stored it. */
export interface UploadedFile {
  readonly name: string
  readonly contentType: string
  /** In bytes. */
  readonly size: number
  /** Of the bytes, in hexadecimal. */
  readonly sha256: string
  /** The name of the stored file; see `MediaFiles`. */
  readonly file: string
}

/** The body of the current request, read by admission: none, JSON as sent, or a stored file. */
export class RequestBody extends Context.Service<
  RequestBody,
  | { readonly kind: "none" }
  /** `bytes` is the size as it was sent. */
  | { readonly kind: "json"; readonly value: unknown; readonly bytes: number }
  | { readonly kind: "file"; readonly file: UploadedFile }
>()("@plaza/sandbox/RequestBody") {}

/** Checks a request before its handler, and gives every response the form of the document. `http/Interface` implements it. */
export class AdmissionMiddleware extends HttpApiMiddleware.Service<AdmissionMiddleware, {
  provides: CurrentCaller | RequestBody
}>()("@plaza/sandbox/AdmissionMiddleware") {}

export class InterfaceApi extends HttpApi.make("interface")
  .add(
    HttpApiGroup.make("profiles").add(
      endpointOf("getMe", Resources.Profile),
      endpointOf("getUser", Resources.Profile),
      endpointOf("getUserByUsername", Resources.Profile),
      endpointOf("followUser")
    ),
    HttpApiGroup.make("media").add(endpointOf("uploadMedia", Resources.Media)),
    HttpApiGroup.make("posts").add(
      endpointOf("createPost", Resources.Post),
      endpointOf("listPosts", Page(Resources.Post)),
      endpointOf("createComment", Resources.Comment),
      endpointOf("likePost"),
      ...assumedPosts(Resources.Post)
    ),
    HttpApiGroup.make("store").add(
      endpointOf("setStock", Resources.Product),
      endpointOf("shipOrder", Resources.Order),
      ...assumedStore(Resources.Product, Resources.Order)
    ),
    HttpApiGroup.make("chat").add(
      endpointOf("listConversations", Page(Resources.Conversation)),
      endpointOf("sendMessage", Resources.Message),
      ...assumedChat(Resources.Message)
    ),
    HttpApiGroup.make("stories").add(endpointOf("createStory", Resources.Story))
  )
  .prefix(basePath)
  .middleware(AdmissionMiddleware)
  .annotate(HttpApi.ParamsParseOptions, { reportInput: true })
  .annotate(HttpApi.QueryParseOptions, { reportInput: true })
  .annotate(HttpApi.PayloadParseOptions, { reportInput: true })
{}

export interface Operation {
  readonly name: string
  /** Such as `posts`. */
  readonly area: string
  readonly method: HttpMethod
  /** Relative to the base path, with a colon before each parameter. */
  readonly path: string
  readonly body: "none" | "json" | "file"
  readonly action: "upload" | Operations.Action
  /** The identifier of the resource in the response, such as `Post`; of a list that of its items. */
  readonly resource: string | undefined
  readonly isList: boolean
  /** Whether the document names the operation without showing it. */
  readonly isAssumed: boolean
}

const isCatalogued = (name: string): name is Operations.OperationName => Object.hasOwn(Operations.operations, name)

/** The actions of the assumed operations. */
const actions: Readonly<Record<string, Operations.Action>> = { GET: "read", PATCH: "update", DELETE: "confirm" }

/** The schema of the items, if this is the schema of a list, which has them in its encoded form. */
const itemOf = (result: AST.AST | undefined): AST.AST | undefined => {
  const page = result?.encoding?.[0].to ?? result
  const items = page?._tag === "Objects" ? page.propertySignatures.find(({ name }) => name === "data")?.type : undefined
  return items?._tag === "Arrays" ? items.rest[0] : undefined
}

const operationOf = (area: string, { identifier: name, method, path, payload, success }: HttpApiEndpoint.Top): Operation => {
  const catalogued: Operations.Operation | undefined = isCatalogued(name) ? Operations.operations[name] : undefined
  const body = catalogued?.multipart !== undefined ? "file" : payload.size > 0 ? "json" : "none"
  const result = [...success].map(({ ast }) => ast).find(({ _tag }) => _tag === "Objects")
  const item = itemOf(result)
  const resource = item ?? result
  return {
    name,
    area,
    method,
    path: path.slice(basePath.length),
    body,
    action: body === "file" ? "upload" : catalogued?.action ?? actions[method] ?? "read",
    resource: resource === undefined ? undefined : AST.resolveIdentifier(resource),
    isList: item !== undefined,
    isAssumed: catalogued === undefined
  }
}

/** The endpoints of an API with the names of their groups, in order. */
export const endpointsOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  { groups }: HttpApi.HttpApi<Id, Groups>
): ReadonlyArray<readonly [group: string, HttpApiEndpoint.Top]> =>
  // True because every group is made of endpoints. `HttpApi.reflect` would list the responses too, which each start would pay for.
  (Object.values(groups) as ReadonlyArray<HttpApiGroup.Top>).flatMap(({ endpoints, identifier }) =>
    Object.values<HttpApiEndpoint.Top>(endpoints).map((endpoint) => [identifier, endpoint] as const)
  )

/** Every operation by name, those of the document first. */
export const operations: ReadonlyMap<string, Operation> = new Map(
  endpointsOf(InterfaceApi)
    .map(([area, endpoint]) => operationOf(area, endpoint))
    .sort((one, other) => Number(one.isAssumed) - Number(other.isAssumed))
    .map((operation) => [operation.name, operation])
)

/** Removes the fields of a successful response that the contract doesn't show. */
export const documented = ({ name }: Operation, response: unknown): unknown =>
  // Compiled on each call, which is rare.
  isCatalogued(name) ? Schema.decodeUnknownSync(Schema.toEncoded(Operations.operations[name].success))(response) : response
