/**
 * What may be done after an attempt whose outcome isn't known (a 5xx, a timeout, a connection lost after the request
 * left). Each endpoint is annotated with its class.
 *
 * Source: interface v1, "Retry rules".
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"

/**
 * - `Read` changes nothing: send again.
 * - `Repeatable` is taken to leave the same state when done twice: send again.
 * - `Checkable` can be checked. A post is looked for among the account's posts and sent again only if it is not there. An
 *   order is shipped again, because the service refuses a second shipment.
 * - `Once` can't be checked: don't send again.
 *
 * After a definite failure (not connected, 429) a request of any class may be sent again; after 400 401 403 404 409 413 none.
 *
 * @since 0.1.0
 * @category models
 */
export type DeliveryClass = "Read" | "Repeatable" | "Checkable" | "Once"

/** @since 0.1.0 @category annotations */
export class Delivery extends Context.Tag("@plaza/domain/Delivery")<Delivery, DeliveryClass>() {}
