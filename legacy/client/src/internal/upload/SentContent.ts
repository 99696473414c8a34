/**
 * Compares the runs of an upload's source by a hash. If the source changes between attempts, the upload fails before the service has a
 * complete file.
 *
 * @since 0.1.0
 */

/**
 * One run of the source.
 *
 * @since 0.1.0
 * @category models
 */
export interface Run {
  /** Adds the next bytes. Returns false if an earlier run had other bytes at this position, or ended before it. */
  readonly add: (bytes: Uint8Array) => boolean
  /** Ends the run. Returns false if an earlier run was longer, or if this run is empty and the earlier run had no end. */
  readonly end: () => boolean
}

/** @since 0.1.0 @category models */
export interface SentContent {
  readonly begin: () => Run
}

/** The progress of a run. */
interface Mark {
  length: number
  hash: number
  isWhole: boolean
}

// FNV-1a with 32 bits. It detects accidents, such as a source that can be read only once, and does not resist an attacker.
const offsetBasis = 0x811c9dc5
const prime = 0x01000193

const hashOf = (bytes: Uint8Array, from: number, to: number, begin: number): number => {
  let hash = begin
  for (let index = from; index < to; index++) {
    hash = Math.imul(hash ^ (bytes[index] ?? 0), prime)
  }
  return hash
}

/** @since 0.1.0 @category constructors */
export const make = (): SentContent => {
  // The longest earlier run.
  let known: Readonly<Mark> | undefined
  let last: Mark | undefined
  return {
    begin: () => {
      if (last !== undefined && (known === undefined || last.length > known.length || last.isWhole)) {
        known = last
      }
      const earlier = known
      const mark: Mark = { length: 0, hash: offsetBasis, isWhole: false }
      last = mark
      return {
        add: (bytes) => {
          const length = mark.length + bytes.length
          const isCompared = earlier !== undefined && earlier.length > mark.length && earlier.length <= length
          const middle = isCompared ? earlier.length - mark.length : 0
          const hash = hashOf(bytes, 0, middle, mark.hash)
          if ((isCompared && hash !== earlier.hash) || (earlier?.isWhole === true && length > earlier.length)) {
            return false
          }
          mark.length = length
          mark.hash = hashOf(bytes, middle, bytes.length, hash)
          return true
        },
        end: () => {
          mark.isWhole = true
          return earlier === undefined || (mark.length >= earlier.length && (mark.length > 0 || earlier.isWhole))
        }
      }
    }
  }
}
