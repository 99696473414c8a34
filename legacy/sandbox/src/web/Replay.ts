/**
 * Sends requests through the interface from a page: recorded ones again, and first ones of a new visitor.
 *
 * @since 0.1.0
 */
import { Conflict, type NotFound } from "@plaza-legacy/domain/Errors"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Envelope from "../http/Envelope.ts"
import { InterfaceApp } from "../http/InterfaceApp.ts"
import { RequestLog } from "../http/RequestLog.ts"
import type { Original } from "../http/RequestMessages.ts"
import { ServerRequest, type Source } from "../http/ServerRequest.ts"

/** @since 0.1.0 @category models */
export interface Replay {
  /** Sends a request, and returns the id of its record. */
  readonly send: (request: Pick<Original, "method" | "url" | "headers" | "hasBody" | "body">) => Effect.Effect<string>
  /** Sends a recorded request again, with its key, and returns the id of the new record. */
  readonly again: (id: string) => Effect.Effect<string, NotFound | Conflict>
}

const sourceOf = ({ body = new Uint8Array(), hasBody, headers, method, url }: Parameters<Replay["send"]>[0]): Source => ({
  method,
  url,
  headers,
  remoteAddress: Option.none(),
  hasBody,
  read: (maxBytes) => Effect.succeed(body.length > maxBytes ? Option.none() : Option.some(body)),
  stream: Stream.make(body)
})

/**
 * Why a request can't be sent again; undefined if it can.
 *
 * @since 0.1.0
 * @category checks
 */
export const obstacle = (original: Original | undefined): string | undefined =>
  original === undefined
    ? "The sandbox no longer keeps the headers and the body of this request."
    : original.upload !== undefined
    ? "The sandbox does not keep the bytes of uploads: send the file again."
    : original.body === undefined && original.hasBody
    ? "The sandbox did not read the body of this request."
    : (original.body?.length ?? 0) < original.bodySize
    ? `The sandbox keeps only the beginning of a body of ${original.bodySize} bytes.`
    : undefined

const split = (url: string): readonly [path: string, query: string] => {
  const [, path = url, query = ""] = /^(?:https?:\/\/[^/?#]*)?([^?]*)\??(.*)$/is.exec(url) ?? []
  return [path, query]
}

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<Replay, never, InterfaceApp | RequestLog> = Effect.gen(function*() {
  const api = yield* InterfaceApp
  const log = yield* RequestLog

  const send: Replay["send"] = (request) => {
    const [path, query] = split(request.url)
    // A fault may close the connection; the record shows it.
    return Effect.flatMap(
      api.open(new ServerRequest(sourceOf(request)), path, query),
      ({ id, response }) => Effect.as(Effect.ignore(response), id)
    )
  }

  return {
    send,
    again: (id) =>
      Effect.gen(function*() {
        if ((yield* log.detail(id)) === undefined) {
          return yield* Envelope.unknownRequest(id)
        }
        const original = yield* log.original(id)
        const problem = obstacle(original)
        return original === undefined || problem !== undefined
          ? yield* new Conflict({ message: problem ?? "" })
          : yield* send(original)
      })
  }
})
