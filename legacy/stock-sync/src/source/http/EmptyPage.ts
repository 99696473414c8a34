/**
 * Distinguishes an empty page of JSON, which ends the pages, from a document without items, such as an error with status 200.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"

export interface EmptyPage {
  /** Buffers the bytes of a page until it has a row. */
  readonly add: (bytes: Uint8Array) => Effect.Effect<void>
  readonly hasRows: () => void
  /** At the end of a page without rows: the document, if it has an array of items. */
  readonly document: () => unknown
}

// A page without items is short.
const maxBytes = 65_536

/** `items` is the path of the array, such as `result.items` (default: the document itself or its `data`). */
export const make = (items: string | undefined): EmptyPage => {
  let any = false
  let size = 0
  let buffered: Array<Uint8Array> = []
  return {
    add: (bytes) =>
      Effect.sync(() => {
        size += bytes.length
        if (!any && size <= maxBytes) buffered.push(bytes)
      }),
    hasRows: () => {
      if (!any) buffered = []
      any = true
    },
    document: () => {
      const document = size <= maxBytes ? parse(Buffer.concat(buffered).toString("utf8")) : undefined
      return Array.isArray(arrayIn(document, items)) ? document : undefined
    }
  }
}

const parse = (text: string): unknown => Either.getOrUndefined(Either.try((): unknown => JSON.parse(text.replace(/^\uFEFF/, ""))))

const arrayIn = (document: unknown, items: string | undefined): unknown =>
  Array.isArray(document)
    ? document
    : (items ?? "data").split(".").reduce<unknown>(
      (value, name) => Array.isArray(value) ? value : Predicate.isRecord(value) ? value[name] : undefined,
      document
    )
