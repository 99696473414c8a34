/**
 * A request of the interface with the state that its handling collects.
 *
 * @since 0.1.0
 */
import type { RouteContext } from "@effect/platform/HttpRouter"
import type { RequestError } from "@effect/platform/HttpServerError"
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
} from "@plaza-legacy/domain/Errors"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type { Caller } from "../access/Callers.ts"
import type { UploadedFile } from "../areas/media/Upload.ts"
import type { Hit } from "./Faults.ts"
import type { Entry } from "./RequestLog.ts"
import type { Handlers, Source } from "./ServerRequest.ts"
import { ServerRequest } from "./ServerRequest.ts"

/**
 * A fault prevents the request from reaching its handler.
 *
 * @since 0.1.0
 * @category errors
 */
export class NotHandled extends Data.TaggedError("NotHandled") {}

/**
 * Why a request doesn't reach its handler.
 *
 * @since 0.1.0
 * @category errors
 */
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
  | RequestError
  | NotHandled

type Admit = (exchange: Exchange, route: RouteContext) => Effect.Effect<Caller, Refusal>

/** @since 0.1.0 @category models */
export class Exchange extends ServerRequest {
  /** Without the base path of the interface. */
  readonly path: string
  /** Its record in the request log. */
  readonly entry: Entry
  readonly hit: Hit
  /** Runs before the handler. */
  readonly admit: Admit
  /** Runs the request as a late commit. */
  readonly commit: (exchange: Exchange) => Effect.Effect<unknown, unknown>
  /** Set once the request is admitted. */
  caller: Caller | undefined
  /** Set once an upload is received. */
  file: UploadedFile | undefined
  /** The result of admission, if a late commit is possible. */
  admission: Exit.Exit<Caller, Refusal> | undefined
  /** Whether this is a late commit. */
  isLate = false

  constructor(source: Source, { admit, commit, entry, handlers, hit, path, url }: {
    readonly url: string
    readonly path: string
    readonly entry: Entry
    readonly hit: Hit
    readonly handlers: Handlers
    readonly admit: Admit
    readonly commit: (exchange: Exchange) => Effect.Effect<unknown, unknown>
  }) {
    super(source, url, handlers)
    this.path = path
    this.entry = entry
    this.hit = hit
    this.admit = admit
    this.commit = commit
  }
}
