/**
 * What an upload has sent of its content, so that a source which gives something else when it is run again is noticed
 * before the service has a whole file of it.
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
  /** Takes the next bytes. False when an earlier run gave others, or had ended before them. */
  readonly add: (bytes: Uint8Array) => boolean
  /** Ends the run. False when an earlier run gave more, or was cut before it gave anything while this one gave nothing. */
  readonly end: () => boolean
}

/** @since 0.1.0 @category models */
export interface SentContent {
  readonly begin: () => Run
}

/** How far a run has come. */
interface Mark {
  length: number
  hash: number
  isWhole: boolean
}

// 32 bits of FNV-1a: this finds a source that was used up, and is not for an attacker.
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
  // The earlier run that came furthest.
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
