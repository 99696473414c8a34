/**
 * A transport on undici's dispatch callbacks. `Dispatcher.request` creates a stream, a promise and a signal for each call, which cost
 * more than the rest of the call. Decision 020 has the figures.
 *
 * @since 0.1.0
 */
import type { Dispatcher } from "@effect/platform-node/Undici"
import * as Headers from "@effect/platform/Headers"
import { AsyncResource } from "node:async_hooks"
import { textOf } from "../ResponseBody.ts"
import type { Head, Listener, Transport } from "../Transport.ts"

/** An `AsyncResource`, because a socket serves many callers and `AsyncLocalStorage` must follow each of them. */
class Handler extends AsyncResource implements Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | undefined
  private head: Head | undefined
  private readonly chunks: Array<Uint8Array> = []
  private bytesLeft = 0
  private isDone = false
  private readonly listener: Listener

  constructor(listener: Listener) {
    super("PLAZA_REQUEST")
    this.listener = listener
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller
    if (this.isDone) {
      this.abortConnection()
    } else {
      this.listener.onConnection()
    }
  }

  onResponseStart(_: unknown, status: number, headers: Parameters<typeof Headers.fromInput>[0]): void {
    // The final response follows an informational one.
    if (!this.isDone && status >= 200) {
      this.head = { status, headers: Headers.fromInput(headers) }
      this.bytesLeft = this.listener.onHead(this.head)
      if (this.bytesLeft === 0) {
        this.cut(this.head)
      }
    }
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.chunks.push(chunk.length > this.bytesLeft ? chunk.subarray(0, this.bytesLeft) : chunk)
    this.bytesLeft -= chunk.length
    if (this.bytesLeft < 0 && this.head !== undefined) {
      this.cut(this.head)
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

  readonly abort = (): void => {
    if (!this.isDone) {
      this.isDone = true
      this.abortConnection()
    }
  }

  private cut(head: Head): void {
    this.finish(() => this.listener.onEnd(head, { text: textOf(this.chunks), isCut: true }))
    this.abortConnection()
  }

  // Undici can't abort a request before it has a connection; `onRequestStart` aborts it then.
  private abortConnection(): void {
    this.controller?.abort(new Error("the request was aborted"))
  }

  private finish(notify: () => void): void {
    if (!this.isDone) {
      this.isDone = true
      this.runInAsyncScope(notify)
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
    // The caller has its own timeout.
    headersTimeout: 0,
    bodyTimeout: 0
  }, handler)
  return handler.abort
}
