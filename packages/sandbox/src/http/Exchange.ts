/**
 * One request of the interface on its way, with what has become known of it so far.
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
} from "@plaza/domain/Errors"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type { Caller } from "../access/Callers.js"
import type { UploadedFile } from "../areas/media/Upload.js"
import type { Hit } from "./Faults.js"
import type { Entry } from "./RequestLog.js"
import type { Handlers, Source } from "./ServerRequest.js"
import { ServerRequest } from "./ServerRequest.js"

/**
 * A fault keeps the request from its handler.
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
  /** What the request log shows of it. */
  readonly entry: Entry
  readonly hit: Hit
  /** Stands before its handler. */
  readonly admit: Admit
  /** Carries it out after its caller was given up. */
  readonly commit: (exchange: Exchange) => Effect.Effect<unknown, unknown>
  /** Once it is admitted. */
  caller: Caller | undefined
  /** Where it is an upload that was received. */
  file: UploadedFile | undefined
  /** How it was admitted or refused, where it may be carried out later. */
  admission: Exit.Exit<Caller, Refusal> | undefined
  /** Whether it is carried out after its caller was given up. */
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
