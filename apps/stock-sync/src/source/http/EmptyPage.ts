/**
 * Tells an empty page of JSON from a document that holds no items at all, such as an error with status 200. Pages end with the former; the
 * latter must not pass for the end.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"

export interface EmptyPage {
  /** Keeps the bytes of a page for as long as it has no rows. */
  readonly take: (bytes: Uint8Array) => Effect.Effect<void>
  readonly hasRows: () => void
  /** At the end of the page: whether it had rows, or an empty array of items. */
  readonly isPage: () => boolean
}

// A page without items is short.
const longest = 65_536

/** `items` names the place of the array, as `result.items` (default: the document itself or its `data`). */
export const make = (items: string | undefined): EmptyPage => {
  let any = false
  let size = 0
  let kept: Array<Uint8Array> = []
  return {
    take: (bytes) =>
      Effect.sync(() => {
        size += bytes.length
        if (!any && size <= longest) kept.push(bytes)
      }),
    hasRows: () => {
      if (!any) kept = []
      any = true
    },
    isPage: () => any || (size <= longest && Array.isArray(arrayIn(Buffer.concat(kept).toString("utf8"), items)))
  }
}

const arrayIn = (text: string, items: string | undefined): unknown =>
  Either.match(Either.try((): unknown => JSON.parse(text.replace(/^\uFEFF/, ""))), {
    onLeft: () => undefined,
    onRight: (document) =>
      Array.isArray(document)
        ? document
        : (items ?? "data").split(".").reduce<unknown>(
          (value, name) => Array.isArray(value) ? value : Predicate.isRecord(value) ? value[name] : undefined,
          document
        )
  })
