/** Ships an order, and turns the result or the failure into the response of any HTTP framework. */
import { type Failure, isPlazaError, type NewShipment, type Plaza } from "@plaza/sdk"

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: object
}

const isShipment = (json: unknown): json is NewShipment =>
  typeof json === "object" && json !== null &&
  "carrier" in json && typeof json.carrier === "string" &&
  "trackingNumber" in json && typeof json.trackingNumber === "string"

/** The wait until another call is useful, in whole seconds. */
const secondsAfter = ({ retryAfter = 10_000 }: Failure) => String(Math.max(1, Math.ceil(retryAfter / 1_000)))

const replyTo = (failure: Failure): Reply => {
  // First, because a refusal can follow an attempt that shipped the order.
  if (failure.mayHaveHappened) {
    return failure._tag === "OutcomeUnknown" && failure.likely === "done"
      ? { status: 202, headers: {}, body: { state: "shipped, check the tracking number" } }
      : { status: 502, headers: {}, body: { error: "the outcome is unknown, check the order" } }
  }
  switch (failure.category) {
    case "NotFound":
      return { status: 404, headers: {}, body: { error: "unknown order" } }
    case "Conflict":
      return { status: 409, headers: {}, body: { error: "already shipped" } }
    case "InvalidRequest":
    case "TooLarge":
      return { status: 400, headers: {}, body: { error: failure.message } }
    case "RateLimited":
    case "ServiceFault":
      return { status: 503, headers: { "retry-after": secondsAfter(failure) }, body: { error: "try later" } }
    case "Unauthenticated":
    case "Forbidden":
      // The key or the account: the caller can do nothing about it, so it is for the log.
      process.stderr.write(`${JSON.stringify(failure)}\n`)
      return { status: 500, headers: {}, body: { error: "the shop can't ship orders now" } }
  }
}

/** Ships an order with `{ carrier, trackingNumber }`. If the signal ends the call, the order may be shipped all the same. */
export const shipOrder = async (plaza: Plaza, id: string, json: unknown, signal?: AbortSignal): Promise<Reply> => {
  if (!isShipment(json)) return { status: 400, headers: {}, body: { error: "carrier and trackingNumber must be texts" } }
  try {
    const { carrier, trackingNumber } = await plaza.store.ship(id, json, { signal })
    return { status: 200, headers: {}, body: { state: "shipped", carrier, trackingNumber } }
  } catch (error) {
    if (isPlazaError(error)) return replyTo(error)
    // Nobody reads this response.
    if (signal?.aborted === true) return { status: 499, headers: {}, body: { error: "the caller closed the connection" } }
    throw error
  }
}
