/**
 * The middleware of every operation of the interface. It runs `Admission` and provides the caller to the handler.
 *
 * @since 0.1.0
 */
import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import { RequestError } from "@effect/platform/HttpServerError"
import * as Errors from "@plaza-legacy/domain/Errors"
import * as Context from "effect/Context"
import type { Caller } from "../access/Callers.ts"
import { NotHandled } from "./Exchange.ts"
import { failures } from "./ServedEndpoint.ts"

/**
 * The account and key of the current request.
 *
 * @since 0.1.0
 * @category services
 */
export class CurrentCaller extends Context.Tag("@plaza-legacy/sandbox/CurrentCaller")<CurrentCaller, Caller>() {}

/** @since 0.1.0 @category middleware */
export class RequiresAdmission extends HttpApiMiddleware.Tag<RequiresAdmission>()("@plaza-legacy/sandbox/RequiresAdmission", {
  provides: CurrentCaller,
  failure: failures(Errors.NotFound, Errors.InvalidApiKey, Errors.DeveloperAccessRevoked, Errors.RateLimited, Errors.InsufficientScope,
    Errors.ProfileIncomplete, Errors.PayloadTooLarge, Errors.InvalidJson, Errors.ValidationError, RequestError, NotHandled)
}) {}
