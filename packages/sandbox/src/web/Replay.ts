/** Sends requests through the interface from a page: recorded ones again, and first ones of a new visitor. */
import { Conflict, type NotFound } from "@plaza/domain/Errors"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpMethod } from "effect/http/HttpMethod"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import { type App, Interface } from "../http/Interface.ts"
import { RequestLog } from "../http/RequestLog.ts"
import type { Original } from "../http/RequestMessages.ts"
import { unknownRequest } from "../Validation.ts"

export interface Replay {
  /** Sends a request, and returns the id of its record. */
  readonly send: (request: Pick<Original, "method" | "url" | "headers" | "body">) => Effect.Effect<string>
  /** Sends a recorded request again, with its key, and returns the id of the new record. */
  readonly again: (id: string) => Effect.Effect<string, NotFound | Conflict>
}

/** Why a request can't be sent again; undefined if it can. */
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

/** Sends requests through the interface with a router. */
export const make = Effect.fnUntraced(function*(app: App): Effect.fn.Return<Replay, never, Interface | RequestLog> {
  const api = yield* Interface
  const log = yield* RequestLog

  const send: Replay["send"] = Effect.fnUntraced(function*({ body, headers, method, url }) {
    const [path, query] = split(url)
    const opened = api.open(method, path, query, yield* Clock.currentTimeMillis)
    // True of every recorded method: the platform passes any method on.
    const request = HttpClientRequest.make(method as HttpMethod)(url, {
      headers: Headers.fromInput(headers),
      ...(body === undefined ? {} : { body: HttpBody.uint8Array(body, headers["content-type"]) })
    })
    // A fault may close the connection; the record shows it.
    yield* Effect.ignore(Effect.scoped(Effect.provideService(
      api.respond(app, { path, query, opened }),
      HttpServerRequest.HttpServerRequest,
      HttpServerRequest.fromClientRequest(request).modify({ url })
    )))
    return opened.id
  })

  return {
    send,
    again: (id) =>
      Effect.suspend((): Effect.Effect<string, NotFound | Conflict> => {
        const original = log.original(id)
        const problem = obstacle(original)
        return log.detail(id) === undefined
          ? Effect.fail(unknownRequest(id))
          : original === undefined || problem !== undefined
          ? Effect.fail(new Conflict({ message: problem ?? "" }))
          : send(original)
      })
  }
})
