/**
 * An exchange by undici's own callbacks. Its `request` makes a stream, a promise and a signal for each call, which costs
 * more than the rest of the call. Knows nothing of what is sent.
 *
 * @since 0.1.0
 */
import * as Headers from "@effect/platform/Headers"
import type { Dispatcher } from "@effect/platform-node/Undici"
import { AsyncResource } from "node:async_hooks"
import type { Exchange, Head, Listener } from "../Exchange.js"

/** Keeps what a program follows by `AsyncLocalStorage` with the caller: a socket serves many. */
class Handler extends AsyncResource implements Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | undefined
  private head: Head | undefined
  private readonly chunks: Array<Buffer> = []
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
    }
  }

  onResponseStart(_: unknown, status: number, headers: Parameters<typeof Headers.fromInput>[0]): void {
    // Such an answer is followed by another one.
    if (!this.isOver && status >= 200) {
      this.head = { status, headers: Headers.fromInput(headers) }
      this.listener.onHead(this.head)
    }
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.chunks.push(chunk)
  }

  onResponseEnd(): void {
    const { chunks, head, listener } = this
    if (head !== undefined) {
      this.finish(() => listener.onEnd(head, textOf(chunks)))
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

/** As the platform's clients read a text: a mark of the order of its bytes isn't part of it. */
const textOf = (chunks: ReadonlyArray<Buffer>): string => {
  const [first] = chunks
  const text = (first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks)).toString()
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}

/** @since 0.1.0 @category constructors */
export const make = (dispatcher: Dispatcher): Exchange => ({ body, headers, method, url }, listener) => {
  const handler = new Handler(listener)
  dispatcher.dispatch({
    method,
    origin: url.origin,
    path: url.pathname + url.search,
    headers,
    body: body ?? null,
    // The time limit of an attempt is the caller's.
    headersTimeout: 0,
    bodyTimeout: 0
  }, handler)
  return handler.breakOff
}
