/**
 * The middleware of every operation of the interface. It runs `Admission` and provides the caller to the handler.
 *
 * @since 0.1.0
 */
import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import { RequestError } from "@effect/platform/HttpServerError"
import { errorResponse } from "@plaza/domain/ErrorSchema"
import { Authorization } from "@plaza/domain/PlazaApi"
import * as Context from "effect/Context"
import * as Schema from "effect/Schema"
import type { Caller } from "../access/Callers.js"
import { NotHandled } from "./Exchange.js"

/**
 * The account and key of the current request.
 *
 * @since 0.1.0
 * @category services
 */
export class CurrentCaller extends Context.Tag("@plaza/sandbox/CurrentCaller")<CurrentCaller, Caller>() {}

/** @since 0.1.0 @category middleware */
export class RequiresAdmission extends HttpApiMiddleware.Tag<RequiresAdmission>()("@plaza/sandbox/RequiresAdmission", {
  provides: CurrentCaller,
  failure: Schema.Union(
    Authorization.failure,
    errorResponse("NOT_FOUND"),
    errorResponse("PROFILE_INCOMPLETE"),
    errorResponse("PAYLOAD_TOO_LARGE"),
    errorResponse("INVALID_JSON"),
    errorResponse("VALIDATION_ERROR"),
    Schema.instanceOf(RequestError),
    Schema.instanceOf(NotHandled)
  )
}) {}
