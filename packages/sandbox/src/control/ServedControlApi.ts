/**
 * The control API as the sandbox serves it, with a middleware that reads bodies with the same limits as the interface.
 *
 * @since 0.1.0
 */
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import * as HttpRouter from "@effect/platform/HttpRouter"
import { RequestError } from "@effect/platform/HttpServerError"
import { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import { errorResponse } from "@plaza/domain/ErrorSchema"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as NearMiss from "../http/NearMiss.js"
import { byRoute, operationsOf } from "../http/Operation.js"
import { served } from "../http/ServedApi.js"
import { type Handlers, type JsonLimits, readBody, ServerRequest, type Source } from "../http/ServerRequest.js"
import { ControlGroup } from "./ControlApi.js"
import { SeedingGroup } from "./SeedingApi.js"
import { SnapshotsGroup } from "./SnapshotsApi.js"

/**
 * A request of the control API, with the bounds of its sandbox.
 *
 * @since 0.1.0
 * @category models
 */
export class ControlRequest extends ServerRequest {
  readonly limits: JsonLimits

  constructor(source: Source, options: { readonly url: string; readonly handlers: Handlers; readonly limits: JsonLimits }) {
    super(source, options.url, options.handlers)
    this.limits = options.limits
  }
}

/**
 * Reads the body before the schemas of an operation decode it. Exported for the declarations of the handlers' groups.
 *
 * @since 0.1.0
 * @category middleware
 */
export class ReadsBody extends HttpApiMiddleware.Tag<ReadsBody>()("@plaza/sandbox/ReadsBody", {
  failure: Schema.Union(errorResponse("INVALID_JSON"), errorResponse("PAYLOAD_TOO_LARGE"), errorResponse("VALIDATION_ERROR"),
    Schema.instanceOf(RequestError))
}) {}

/** @since 0.1.0 @category api */
export class ServedControlApi extends HttpApi.make("sandbox")
  .add(served(ControlGroup.middleware(ReadsBody), "ignore"))
  .add(served(SeedingGroup.middleware(ReadsBody), "ignore"))
  .add(served(SnapshotsGroup.middleware(ReadsBody), "ignore"))
{}

const operations = operationsOf(ServedControlApi)

const operationOf = byRoute(operations)

/**
 * Explains an unknown route of the control API.
 *
 * @since 0.1.0
 * @category routing
 */
export const nearMiss = NearMiss.make(operations, "")

/** @since 0.1.0 @category middleware */
export const middleware: Context.Context<ReadsBody> = Context.make(
  ReadsBody,
  Effect.contextWithEffect((context: Context.Context<HttpServerRequest | HttpRouter.RouteContext>) => {
    const request = Context.get(context, HttpServerRequest)
    const operation = operationOf(Context.get(context, HttpRouter.RouteContext).route)
    if (!(request instanceof ControlRequest) || operation === undefined || operation.body === "file") {
      return Effect.dieMessage("the control API has no uploads")
    }
    request.operation = operation
    return Effect.asVoid(readBody(request, operation.body, request.limits))
  })
)
