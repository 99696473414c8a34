/**
 * The middleware that stands before every operation of the interface, and gives its handler the caller; see `Admission`.
 *
 * @since 0.1.0
 */
import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import { RequestError } from "@effect/platform/HttpServerError"
import { onWire } from "@plaza/domain/Errors"
import { Authorization } from "@plaza/domain/PlazaApi"
import * as Context from "effect/Context"
import * as Schema from "effect/Schema"
import type { Caller } from "../access/Callers.js"
import { NotHandled } from "./Exchange.js"

/**
 * Whose key a request carries.
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
    onWire("NOT_FOUND"),
    onWire("PROFILE_INCOMPLETE"),
    onWire("PAYLOAD_TOO_LARGE"),
    onWire("INVALID_JSON"),
    onWire("VALIDATION_ERROR"),
    Schema.instanceOf(RequestError),
    Schema.instanceOf(NotHandled)
  )
}) {}

/**
 * How every operation is handled: once it has begun it runs to its end, even if the caller goes away.
 *
 * @since 0.1.0
 * @category constants
 */
export const uninterruptible = { uninterruptible: true }
