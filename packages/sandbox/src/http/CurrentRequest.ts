/** The state of the current request of the interface. */
import type {
  DeveloperAccessRevoked,
  InsufficientScope,
  InvalidApiKey,
  InvalidJson,
  NotFound,
  PayloadTooLarge,
  ProfileIncomplete,
  RateLimited,
  ValidationError
} from "@plaza/domain/Errors"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type { HttpServerError } from "effect/http/HttpServerError"
import type { Caller } from "../access/Keys.ts"
import type { Operation, RequestBody } from "../InterfaceApi.ts"
import type { Hit } from "./Faults.ts"
import type { Entry } from "./RequestLog.ts"

/** A fault prevents the request from reaching its handler. */
export class NotHandled extends Data.TaggedError("NotHandled") {}

/** Why a request doesn't reach its handler. `HttpServerError`: the caller closed the connection while the body was read. */
export type Refusal =
  | NotFound
  | InvalidApiKey
  | DeveloperAccessRevoked
  | RateLimited
  | InsufficientScope
  | ProfileIncomplete
  | PayloadTooLarge
  | InvalidJson
  | ValidationError
  | HttpServerError
  | NotHandled

/** What admission gives to a handler. */
export interface Admitted {
  readonly caller: Caller
  readonly body: RequestBody["Service"]
}

export interface RequestState {
  /** Its record in the request log. */
  readonly entry: Entry
  /** Set before anything else. */
  hit: Hit
  /** The refusal if no route matches it. */
  readonly unknownRoute: () => NotFound
  /** Handles the request again, as a late commit. */
  readonly commit: Effect.Effect<void>
  /** Set once its route is known. */
  operation?: Operation
  /** Set once it is admitted. */
  caller?: Caller
  /** Set once the body has been read; a refused body has its bytes only. */
  body?: RequestBody["Service"]
  bytes?: Uint8Array
  /** The result of admission, if a late commit is possible. */
  admission?: Exit.Exit<Admitted, Refusal>
  /** Whether this is a late commit. */
  isLate: boolean
  /** Why the service has no response of its own: a fault came first, or the caller closed the connection. */
  failure?: NotHandled | HttpServerError
}

/** The state of the current request; undefined outside of the interface. */
export const CurrentRequest = Context.Reference<RequestState | undefined>("@plaza/sandbox/CurrentRequest", {
  defaultValue: () => undefined
})
