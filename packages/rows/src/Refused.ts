/**
 * The failure of a source as a whole. Knows nothing of what can be wrong with one.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"

/**
 * The source as a whole can't be trusted or read, so nothing of it is taken.
 *
 * @since 0.1.0
 * @category errors
 */
export class SourceRefused extends Data.TaggedError("SourceRefused")<{
  /** What was read: a path, an address without what is secret in it, or "stdin". */
  readonly source: string
  /** The line where reading ended, where there is one. */
  readonly line: number | undefined
  readonly message: string
}> {
  readonly exitCode = 2
}

/**
 * Nothing of the source is taken, because of what stands in it.
 *
 * @since 0.1.0
 * @category errors
 */
export const content = (source: string, what: string, line?: number): SourceRefused =>
  new SourceRefused({ source, line, message: `${source}${line === undefined ? "" : `, line ${line}`}: ${what}; nothing of it was taken` })

/**
 * Whether bytes begin with the mark of UTF-16, neither half of which any UTF-8 holds.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isUtf16 = ([one, two]: Uint8Array): boolean => (one === 0xff && two === 0xfe) || (one === 0xfe && two === 0xff)

/** @since 0.1.0 @category errors */
export const utf16 = (source: string): SourceRefused => content(source, "it is UTF-16: save it in UTF-8")
