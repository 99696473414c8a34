/**
 * The control API as the sandbox serves it, with a middleware that reads bodies with the same limits as the interface.
 *
 * @since 0.1.0
 */
import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import * as HttpRouter from "@effect/platform/HttpRouter"
import { RequestError } from "@effect/platform/HttpServerError"
import { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import { InvalidJson, PayloadTooLarge, ValidationError } from "@plaza-legacy/domain/Errors"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Endpoints from "../http/Endpoints.ts"
import * as NearMiss from "../http/NearMiss.ts"
import { byRoute, operationsOf } from "../http/Operation.ts"
import { failures } from "../http/ServedEndpoint.ts"
import { type Handlers, type JsonLimits, readBody, ServerRequest, type Source } from "../http/ServerRequest.ts"
import { ControlApi } from "./ControlApi.ts"

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
export class ReadsBody extends HttpApiMiddleware.Tag<ReadsBody>()("@plaza-legacy/sandbox/ReadsBody", {
  failure: failures(InvalidJson, PayloadTooLarge, ValidationError, RequestError)
}) {}

/** @since 0.1.0 @category api */
export const servedControl: Endpoints.Serving<ReadsBody> = {
  basePath: "",
  middleware: (endpoint) => endpoint.middleware(ReadsBody),
  furtherFields: "ignore"
}

interface Known {
  readonly operationOf: ReturnType<typeof byRoute>
  readonly nearMiss: ReturnType<typeof NearMiss.make>
}

let known: Known | undefined

/** Made by the first request, because few tests use the control API. */
const operations = (): Known => {
  if (known === undefined) {
    const all = operationsOf(ControlApi)
    known = { operationOf: byRoute(all), nearMiss: NearMiss.make(all, "") }
  }
  return known
}

/**
 * Explains an unknown route of the control API.
 *
 * @since 0.1.0
 * @category routing
 */
export const nearMiss = (method: string, path: string): string => operations().nearMiss(method, path)

/** @since 0.1.0 @category middleware */
export const middleware: Context.Context<ReadsBody> = Context.make(
  ReadsBody,
  Effect.contextWithEffect((context: Context.Context<HttpServerRequest | HttpRouter.RouteContext>) => {
    const request = Context.get(context, HttpServerRequest)
    const operation = operations().operationOf(Context.get(context, HttpRouter.RouteContext).route)
    if (!(request instanceof ControlRequest) || operation === undefined || operation.body === "file") {
      return Effect.dieMessage("the control API has no uploads")
    }
    request.operation = operation
    return Effect.asVoid(readBody(request, operation.body, request.limits))
  })
)
