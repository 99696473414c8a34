/**
 * The delivery class of each endpoint: whether a request may be sent again after an ambiguous failure (a 5xx, a
 * timeout, a lost connection; for a write also a 3xx or 408).
 *
 * Source: interface v1, "Retry rules".
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"

/**
 * What a client does after an ambiguous failure:
 *
 * - `Read` changes nothing: send again.
 * - `Repeatable` is assumed to be idempotent: send again.
 * - `Checkable`: check first. Look for a post in the account's posts and send it again only if it is missing. Ship an
 *   order again, because the service refuses a second shipment.
 * - `Once` can't be checked: don't send again.
 *
 * After a retryable failure (no connection, 429) a client may send a request of any class again. After a refusal (every other 4xx
 * except 408) it sends none again.
 *
 * @since 0.1.0
 * @category models
 */
export type DeliveryClass = "Read" | "Repeatable" | "Checkable" | "Once"

/**
 * The annotation of an endpoint with its {@link DeliveryClass}.
 *
 * @since 0.1.0
 * @category annotations
 */
export class Delivery extends Context.Tag("@plaza-legacy/domain/Delivery")<Delivery, DeliveryClass>() {}
