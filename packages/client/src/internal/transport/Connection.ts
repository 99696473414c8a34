/**
 * What the client and its HTTP client report to each other about one request. An HTTP client may ignore this reference: the client then
 * decides by the code of an error whether the request may have been sent.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"

/** @since 0.1.0 @category models */
export interface Connection {
  /** Whether the request may be sent twice. If not, it uses a new connection. */
  readonly isIdempotent: boolean
  /** Whether the request has had a connection; undefined if the HTTP client doesn't report that. */
  isConnected: boolean | undefined
  /** The address of the proxy, without user and password; undefined without a proxy. */
  proxy: string | undefined
}

/** The connection of the request that this fiber sends. @since 0.1.0 @category references */
export const CurrentConnection = Context.Reference<Connection | undefined>("@plaza/client/Connection", {
  defaultValue: () => undefined
})
