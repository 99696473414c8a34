/**
 * Lists as streams: pages, and the items of pages, in constant memory at any length. The next page is fetched while
 * this one is consumed. Knows nothing of what is listed.
 *
 * Source: interface v1, "List behaviour".
 *
 * @since 0.1.0
 */
import type { ServiceError } from "@plaza/domain/Errors"
import type { Cursor } from "@plaza/domain/Ids"
import * as Limits from "@plaza/domain/Limits"
import type { Page } from "@plaza/domain/Resources"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { CursorRejected, CursorRepeated, InvalidInput } from "./Failures.js"

/** @since 0.1.0 @category models */
export interface ListOptions {
  /** The most items in all, not in a page; all of them unless told. */
  readonly limit?: number | undefined
  /** Items asked for in one request, 1 to 100; 100 unless told. */
  readonly pageSize?: number | undefined
}

/** The query of one page. */
export interface PageRequest {
  readonly limit: number
  readonly cursor?: Cursor
}

/** What a list may fail with beside its pages. */
export type ListFailure = InvalidInput | CursorRepeated | CursorRejected

/** The page to fetch next. */
interface Next {
  readonly cursor: Cursor | undefined
  /** Items that may still come. */
  readonly remaining: number
}

const refuse = (field: string, message: string) => Effect.fail(new InvalidInput({ field, message: `${field} ${message}` }))

const check = (options: ListOptions): Effect.Effect<{ limit: number; pageSize: number }, InvalidInput> => {
  const { limit = Number.POSITIVE_INFINITY, pageSize = Limits.maxPageSize } = options
  return limit !== Number.POSITIVE_INFINITY && (!Number.isSafeInteger(limit) || limit < 1)
    ? refuse("limit", "must be a whole number of at least 1")
    : !Number.isInteger(pageSize) || pageSize < Limits.minPageSize || pageSize > Limits.maxPageSize
    ? refuse("pageSize", `must be a whole number from ${Limits.minPageSize} to ${Limits.maxPageSize}`)
    : Effect.succeed({ limit, pageSize })
}

// An endpoint may not list the code; then it comes as an unrecognized error that carries it.
const isInvalid = (failure: unknown): failure is ServiceError =>
  Predicate.hasProperty(failure, "category") && Predicate.hasProperty(failure, "code") &&
  failure.code === "VALIDATION_ERROR"

/** Of a request that differs from the last good one by its cursor, only the cursor can be wrong. */
const rejected = (operation: string, cause: ServiceError) =>
  new CursorRejected({
    operation,
    message: `${operation} can't go on, because the service no longer takes the cursor it gave (${cause.message}); ` +
      `read the list again from its beginning`,
    cause
  })

/**
 * The pages of a list, cut so that they hold no more than the limit in all.
 *
 * @since 0.1.0
 * @category streams
 */
export const pages = <A, E, R>(
  operation: string,
  fetch: (request: PageRequest) => Effect.Effect<Page<A>, E, R>,
  options: ListOptions = {}
): Stream.Stream<Page<A>, E | ListFailure, R> =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const { limit, pageSize } = yield* check(options)
    const scope = yield* Effect.scope
    const seen = new Set<Cursor>()

    const ahead = ({ cursor, remaining }: Next) =>
      fetch({ limit: Math.min(pageSize, remaining), ...(cursor === undefined ? {} : { cursor }) }).pipe(
        Effect.mapBoth({
          onFailure: (failure) => cursor !== undefined && isInvalid(failure) ? rejected(operation, failure) : failure,
          onSuccess: (page) => ({ page, remaining })
        }),
        Effect.forkIn(scope)
      )

    const repeated = new CursorRepeated({
      operation,
      message: `${operation} gave the same cursor twice and would go round for ever; it was stopped`
    })

    const step = ({ page, remaining }: { readonly page: Page<A>; readonly remaining: number }) =>
      Effect.gen(function*() {
        const { nextCursor } = page
        const data = page.data.length > remaining ? page.data.slice(0, remaining) : page.data
        const left = remaining - data.length
        if (nextCursor === null || left === 0) {
          return [{ data, nextCursor }, Option.none()] as const
        }
        if (seen.has(nextCursor)) {
          return yield* repeated
        }
        seen.add(nextCursor)
        return [{ data, nextCursor }, Option.some(yield* ahead({ cursor: nextCursor, remaining: left }))] as const
      })

    const first = yield* ahead({ cursor: undefined, remaining: limit })
    return Stream.unfoldEffect(Option.some(first), (next) =>
      Option.match(next, {
        onNone: () => Effect.succeedNone,
        onSome: (fiber) => Effect.asSome(Effect.flatMap(Fiber.join(fiber), step))
      }))
  }))

/**
 * The items of a list's pages.
 *
 * @since 0.1.0
 * @category streams
 */
export const items = <A, E, R>(list: Stream.Stream<Page<A>, E, R>): Stream.Stream<A, E, R> =>
  Stream.mapConcatChunk(list, ({ data }) => Chunk.unsafeFromArray(data))
