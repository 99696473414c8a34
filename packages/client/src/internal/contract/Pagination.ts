/**
 * Lists as streams of pages and of items, in constant memory. The client fetches the next page while the program consumes the
 * current one. If items are added or removed meanwhile, the list may omit items or emit them twice, depending on the service.
 *
 * Source: interface v1, "List behaviour".
 *
 * @since 0.1.0
 */
import type { ServiceError } from "@plaza/domain/Errors"
import type { Cursor } from "@plaza/domain/Ids"
import * as Limits from "@plaza/domain/Limits"
import { Page } from "@plaza/domain/Resources"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { CursorRejected, CursorRepeated, InvalidInput, isServiceError, UnreadableItem } from "../../ClientError.ts"
import { decoder } from "./Contract.ts"

/**
 * Options of a list.
 *
 * @since 0.1.0
 * @category models
 */
export interface ListOptions {
  /** The maximum number of items in total (default: all). */
  readonly limit?: number | undefined
  /** Items per request, 1 to 100 (default: 100). */
  readonly pageSize?: number | undefined
  /**
   * The `nextCursor` of the page before the first page to read (default: none, to read from the first page). Cursors expire: the
   * list fails with `CursorRejected` if the service no longer accepts the cursor.
   * Source: interface v1, "List behaviour", rules 3 and 6.
   */
  readonly cursor?: Cursor | undefined
}

/** The query of one page. */
export interface PageRequest {
  readonly limit: number
  readonly cursor?: Cursor
}

/**
 * A page up to the first item that can't be decoded.
 *
 * @since 0.1.0
 * @category models
 */
export interface FetchedPage<out A> extends Page<A> {
  /** The item that can't be decoded. `data` holds the items before it. */
  readonly unreadable?: { readonly index: number; readonly why: string }
}

/** The failures of a list in addition to those of its requests. */
export type ListFailure = InvalidInput | CursorRepeated | CursorRejected | UnreadableItem

/**
 * Decodes a page. If an item can't be decoded, returns the items before it.
 *
 * @since 0.1.0
 * @category decoding
 */
export const pageDecoder = <A>(item: Schema.Decoder<A>): (body: unknown) => Result.Result<FetchedPage<A>, string> => {
  const whole = decoder(Page(item))
  const envelope = decoder(Page(Schema.Unknown))
  const one = decoder(item)
  return (body) =>
    Result.orElse(whole(body), () =>
      Result.map(envelope(body), ({ data: items, nextCursor }) => {
        const data: Array<A> = []
        for (const [index, value] of items.entries()) {
          const decoded = one(value)
          if (Result.isFailure(decoded)) {
            return { data, nextCursor, unreadable: { index, why: decoded.failure } }
          }
          data.push(decoded.success)
        }
        return { data, nextCursor }
      }))
}

/** The page to fetch next. */
interface Next {
  readonly cursor: Cursor | undefined
  /** The maximum number of items still to emit. */
  readonly remaining: number
  /** The page's number, from 1. */
  readonly number: number
}

const refuse = (field: string, message: string) => Effect.fail(new InvalidInput({ field, message: `${field} ${message}` }))

const check = (options: ListOptions): Effect.Effect<{ limit: number; pageSize: number }, InvalidInput> => {
  // Code without types can pass anything.
  if (typeof options !== "object" || options === null) {
    return Effect.fail(new InvalidInput({ field: "", message: "the options of a list must be an object" }))
  }
  const { cursor, limit = Number.POSITIVE_INFINITY, pageSize = Limits.maxPageSize } = options
  return limit !== Number.POSITIVE_INFINITY && (!Number.isSafeInteger(limit) || limit < 1)
    ? refuse("limit", "must be a whole number of at least 1")
    : !Number.isInteger(pageSize) || pageSize < Limits.minPageSize || pageSize > Limits.maxPageSize
    ? refuse("pageSize", `must be a whole number from ${Limits.minPageSize} to ${Limits.maxPageSize}`)
    : cursor !== undefined && typeof cursor !== "string"
    ? refuse("cursor", "must be a text")
    : cursor === ""
    ? refuse("cursor", "must not be empty; leave it out to start at the first page")
    : Effect.succeed({ limit, pageSize })
}

// By category, because a service may have its own code for it. A redirect and a 408 don't concern the cursor.
const isRefusedCursor = (failure: unknown): failure is ServiceError =>
  isServiceError(failure) && (failure.category === "InvalidRequest" || failure.category === "NotFound") &&
  failure.status >= 400 && failure.status !== 408

/** The request differs from an accepted request only in its cursor, so the service rejected the cursor. */
const rejected = (operation: string, number: number, cause: ServiceError) =>
  new CursorRejected({
    operation,
    message: number === 1
      ? `${operation} can't start from the given cursor, because the service rejected it (${cause.message}); ` +
        `read the list from its beginning`
      : `${operation} can't continue, because the service rejected the cursor of page ${number} (${cause.message}); ` +
        `read the list again from its beginning`,
    cause
  })

// A cycle of this many pages is detected at its first repetition.
const mostRecent = 100

/**
 * Detects a repeated cursor in constant memory: compares it with the most recent ones, and with that of page 1, 2, 4, 8 and so on, which
 * detects a cycle of any length (Brent's algorithm).
 */
const repetitions = (first: Cursor | undefined): (cursor: Cursor) => boolean => {
  const recent = new Set(first === undefined ? [] : [first])
  let anchor = first
  let count = 0
  let nextAnchor = 1
  return (cursor) => {
    if (cursor === anchor || recent.has(cursor)) {
      return true
    }
    count++
    if (count === nextAnchor) {
      anchor = cursor
      nextAnchor *= 2
    }
    recent.add(cursor)
    for (const oldest of recent) {
      if (recent.size <= mostRecent) break
      recent.delete(oldest)
    }
    return false
  }
}

/**
 * The pages of a list, up to the limit in total.
 *
 * @since 0.1.0
 * @category streams
 */
export const pages = <A, E, R>(
  operation: string,
  fetch: (request: PageRequest) => Effect.Effect<FetchedPage<A>, E, R>,
  options: ListOptions = {}
): Stream.Stream<Page<A>, E | ListFailure, R> =>
  Stream.unwrap(Effect.gen(function*() {
    const { limit, pageSize } = yield* check(options)
    const scope = yield* Effect.scope
    const isRepeated = repetitions(options.cursor)

    const ahead = (next: Next) =>
      fetch({ limit: Math.min(pageSize, next.remaining), ...(next.cursor === undefined ? {} : { cursor: next.cursor }) }).pipe(
        Effect.mapBoth({
          onFailure: (failure) =>
            next.cursor !== undefined && isRefusedCursor(failure) ? rejected(operation, next.number, failure) : failure,
          onSuccess: (page) => ({ page, next })
        }),
        Effect.forkIn(scope)
      )

    const repeated = () =>
      new CursorRepeated({
        operation,
        message: `${operation} returned the same cursor twice, so the list might never end; read it again from its beginning`
      })

    const unreadable = ({ cursor, number }: Next, nextCursor: Cursor | null, { index, why }: { index: number; why: string }) =>
      new UnreadableItem({
        operation,
        page: number,
        position: index + 1,
        cursor,
        nextCursor,
        message: `${operation}: item ${index + 1} of page ${number} can't be decoded (${why}); ` + (nextCursor === null
          ? "it is on the last page"
          : `to continue with the next page, start from cursor ${JSON.stringify(nextCursor)}`)
      })

    type Ahead = Effect.Success<ReturnType<typeof ahead>>
    type Failures = E | CursorRejected | CursorRepeated | UnreadableItem
    /** The page to come, the failure to come, or nothing. */
    type State = Ahead | UnreadableItem | undefined

    const step = ({ next, page }: { readonly page: FetchedPage<A>; readonly next: Next }): Effect.Effect<
      readonly [Page<A>, State],
      Failures,
      R
    > => {
      const { nextCursor } = page
      const data = page.data.length > next.remaining ? page.data.slice(0, next.remaining) : page.data
      const remaining = next.remaining - data.length
      if (remaining > 0 && page.unreadable !== undefined) {
        const failure = unreadable(next, nextCursor, page.unreadable)
        return data.length === 0 ? Effect.fail(failure) : Effect.succeed([{ data, nextCursor }, failure])
      }
      if (nextCursor === null || remaining === 0) {
        return Effect.succeed([{ data, nextCursor }, undefined])
      }
      return isRepeated(nextCursor)
        ? Effect.fail(repeated())
        : Effect.map(ahead({ cursor: nextCursor, remaining, number: next.number + 1 }), (ahead) => [{ data, nextCursor }, ahead])
    }

    return Stream.unfold<State, Page<A>, Failures, R>(
      yield* ahead({ cursor: options.cursor, remaining: limit, number: 1 }),
      (state) =>
        state === undefined
          ? Effect.succeed(undefined)
          : state instanceof UnreadableItem
          ? Effect.fail(state)
          : Effect.flatMap(Fiber.join(state), step)
    )
  }))

/**
 * The items of a list's pages.
 *
 * @since 0.1.0
 * @category streams
 */
export const items = <A, E, R>(list: Stream.Stream<Page<A>, E, R>): Stream.Stream<A, E, R> =>
  Stream.flatMap(list, ({ data }) => Stream.fromArray(data))
