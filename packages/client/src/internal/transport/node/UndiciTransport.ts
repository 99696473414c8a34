/**
 * An exchange by undici's own callbacks. Its `request` makes a stream, a promise and a signal for each call, which costs
 * more than the rest of the call. Knows nothing of what is sent.
 *
 * @since 0.1.0
 */
import * as Headers from "@effect/platform/Headers"
import type { Dispatcher } from "@effect/platform-node/Undici"
import { AsyncResource } from "node:async_hooks"
import type { Transport, Head, Listener } from "../Transport.js"
import { textOf } from "../ResponseBody.js"

/** Keeps what a program follows by `AsyncLocalStorage` with the caller: a socket serves many. */
class Handler extends AsyncResource implements Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | undefined
  private head: Head | undefined
  private readonly chunks: Array<Uint8Array> = []
  private bytesLeft = 0
  private isOver = false
  private readonly listener: Listener

  constructor(listener: Listener) {
    super("PLAZA_EXCHANGE")
    this.listener = listener
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller
    if (this.isOver) {
      this.abort()
    } else {
      this.listener.onConnection()
    }
  }

  onResponseStart(_: unknown, status: number, headers: Parameters<typeof Headers.fromInput>[0]): void {
    // Such an answer is followed by another one.
    if (!this.isOver && status >= 200) {
      this.head = { status, headers: Headers.fromInput(headers) }
      this.bytesLeft = this.listener.onHead(this.head)
      if (this.bytesLeft === 0) {
        this.cutOff(this.head)
      }
    }
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.chunks.push(chunk.length > this.bytesLeft ? chunk.subarray(0, this.bytesLeft) : chunk)
    this.bytesLeft -= chunk.length
    if (this.bytesLeft < 0 && this.head !== undefined) {
      this.cutOff(this.head)
    }
  }

  onResponseEnd(): void {
    const { chunks, head, listener } = this
    if (head !== undefined) {
      this.finish(() => listener.onEnd(head, { text: textOf(chunks), isCut: false }))
    }
  }

  onResponseError(_: unknown, error: Error): void {
    this.finish(() => this.listener.onFailure(error))
  }

  readonly breakOff = (): void => {
    if (!this.isOver) {
      this.isOver = true
      this.abort()
    }
  }

  /** Drops the connection: what follows on it is not read. */
  private cutOff(head: Head): void {
    this.finish(() => this.listener.onEnd(head, { text: textOf(this.chunks), isCut: true }))
    this.abort()
  }

  // What has no connection yet is broken off as soon as it has one.
  private abort(): void {
    this.controller?.abort(new Error("the request was given up"))
  }

  private finish(tell: () => void): void {
    if (!this.isOver) {
      this.isOver = true
      this.runInAsyncScope(tell)
    }
  }
}

/** @since 0.1.0 @category constructors */
export const make = (dispatcher: Dispatcher): Transport => ({ body, headers, idempotent, method, url }, listener) => {
  const handler = new Handler(listener)
  dispatcher.dispatch({
    method,
    origin: url.origin,
    path: url.pathname + url.search,
    headers,
    body: body ?? null,
    idempotent,
    // The time limit of an attempt is the caller's.
    headersTimeout: 0,
    bodyTimeout: 0
  }, handler)
  return handler.breakOff
}
