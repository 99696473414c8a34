/**
 * What may be done after an attempt whose outcome isn't known (a 5xx, a timeout, a connection lost after the request
 * left). It is an annotation of each endpoint and the only place where this is decided. Knows nothing of how a
 * request is sent again.
 *
 * Source: interface v1, "Retry rules".
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"

/**
 * - `Read` changes nothing: send again.
 * - `Repeatable` leaves the same state when done twice: send again.
 * - `Checkable` can be looked up: check, then send again only if it did not happen.
 * - `Once` can't be looked up: never sent again.
 *
 * Failures that are definite (never connected, 429) are sent again in every class; 400 401 403 404 409 413 never are.
 *
 * @since 0.1.0
 * @category models
 */
export type DeliveryClass = "Read" | "Repeatable" | "Checkable" | "Once"

/** @since 0.1.0 @category annotations */
export class Delivery extends Context.Tag("@plaza/domain/Delivery")<Delivery, DeliveryClass>() {}
