/**
 * The content of an upload, which each attempt reads again. Reports progress, and ends the upload if the content fails, has a length
 * other than its size, or isn't the same in each attempt. The service then never has a complete file.
 *
 * @since 0.1.0
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import type { InvalidInput } from "../../ClientError.ts"
import * as MayHaveHappened from "../delivery/MayHaveHappened.ts"

const groupLength = 16

const mix = (hash: number, word: number): number => {
  const product = Math.imul(hash ^ word, 0x9e3779b1)
  return (product << 15) | (product >>> 17)
}

/**
 * A hash of bytes, whatever their division into chunks. It takes four words at a time, because a hash by bytes takes more CPU than
 * sending the file. It detects accidents, and does not resist an attacker.
 */
class Hash {
  length = 0
  private words: readonly [number, number, number, number] = [1, 2, 3, 4]
  /** The bytes after the last group of four words. */
  private readonly rest = new Uint8Array(groupLength)

  add(bytes: Uint8Array): void {
    const filled = this.length % groupLength
    this.length += bytes.length
    let start = 0
    if (filled > 0) {
      start = Math.min(groupLength - filled, bytes.length)
      this.rest.set(bytes.subarray(0, start), filled)
      if (filled + start < groupLength) {
        return
      }
      this.addGroups(this.rest)
    }
    const end = bytes.length - (bytes.length - start) % groupLength
    this.addGroups(bytes.subarray(start, end))
    this.rest.set(bytes.subarray(end))
  }

  private addGroups({ buffer, byteLength, byteOffset }: Uint8Array): void {
    const view = new DataView(buffer, byteOffset, byteLength)
    let [a, b, c, d] = this.words
    for (let at = 0; at < byteLength; at += groupLength) {
      a = mix(a, view.getInt32(at, true))
      b = mix(b, view.getInt32(at + 4, true))
      c = mix(c, view.getInt32(at + 8, true))
      d = mix(d, view.getInt32(at + 12, true))
    }
    this.words = [a, b, c, d]
  }

  value(): number {
    return [...this.words, ...this.rest.subarray(0, this.length % groupLength)].reduce(mix, 0)
  }
}

/**
 * One run of the content.
 *
 * @since 0.1.0
 * @category models
 */
export interface Run {
  /** Adds the next bytes. Returns false if an earlier run had other bytes up to this position, or ended before it. */
  readonly add: (bytes: Uint8Array) => boolean
  /** Ends the run. Returns false if an earlier run was longer, or if this run is empty and the earlier run had no end. */
  readonly end: () => boolean
}

/**
 * Compares the runs of a content. Each call begins a run.
 *
 * @since 0.1.0
 * @category constructors
 */
export const comparison = (): () => Run => {
  /** The longest earlier run. */
  let known: { readonly length: number; readonly value: number; readonly isWhole: boolean } | undefined
  let last: { readonly hash: Hash; isWhole: boolean } | undefined
  return () => {
    if (last !== undefined && (known === undefined || last.hash.length > known.length || last.isWhole)) {
      known = { length: last.hash.length, value: last.hash.value(), isWhole: last.isWhole }
    }
    const earlier = known
    const hash = new Hash()
    const run = { hash, isWhole: false }
    last = run
    return {
      add: (bytes) => {
        if (earlier === undefined) {
          hash.add(bytes)
          return true
        }
        const missing = Math.max(0, earlier.length - hash.length)
        hash.add(bytes.subarray(0, missing))
        const isSame = missing === 0 || missing > bytes.length || hash.value() === earlier.value
        hash.add(bytes.subarray(missing))
        return isSame && !(earlier.isWhole && hash.length > earlier.length)
      },
      end: () => {
        run.isWhole = true
        return earlier === undefined || (hash.length >= earlier.length && (hash.length > 0 || earlier.isWhole))
      }
    }
  }
}

/**
 * The failures of an upload with an unsuitable source.
 *
 * @since 0.1.0
 * @category models
 */
export interface Problems {
  /** The content has another length than its size. */
  readonly length: (size: number) => InvalidInput
  /** A later run emits other bytes. */
  readonly bytes: () => InvalidInput
  /** A one-shot content runs again. */
  readonly rerun: () => InvalidInput
}

/** @since 0.1.0 @category models */
export interface Options<E> {
  readonly content: Stream.Stream<Uint8Array, E>
  /** The length of the content in bytes, if it is known. */
  readonly size: number | undefined
  /** Whether the content can run again. */
  readonly rerunnable: boolean
  /** Whether to compare the bytes of a later run with those of the earlier ones. */
  readonly compared: boolean
  readonly onProgress: ((bytesSent: number) => Effect.Effect<void>) | undefined
  readonly problems: Problems
}

/** @since 0.1.0 @category models */
export interface Source<E> {
  /** The content to send. It doesn't fail: in a request, a failure would be one of the transport, which the client retries. */
  readonly content: Stream.Stream<Uint8Array>
  /** Fails with the failure of the content. */
  readonly failure: Effect.Effect<never, E | InvalidInput>
  /** Whether any content was read. */
  readonly isStarted: () => boolean
  /** Whether there is more content to send. */
  readonly isUnfinished: () => boolean
}

/** @since 0.1.0 @category constructors */
export const make = <E>({ compared, content, onProgress, problems, rerunnable, size }: Options<E>): Effect.Effect<Source<E>> =>
  Effect.map(Deferred.make<never, E | InvalidInput>(), (failed) => {
    const begin = comparison()
    let runs = 0
    let isUnfinished = true
    const checked = Stream.suspend(() => {
      runs++
      // The application's HTTP client may repeat requests itself.
      if (runs > 1 && !rerunnable) {
        return Stream.fail(problems.rerun())
      }
      isUnfinished = true
      const { add, end } = begin()
      let sent = 0
      const report = (chunk: Uint8Array): Effect.Effect<void, InvalidInput> => {
        sent += chunk.length
        return size !== undefined && sent > size
          ? Effect.fail(problems.length(size))
          : !compared || add(chunk)
          ? onProgress?.(sent) ?? Effect.void
          : Effect.fail(problems.bytes())
      }
      const finish = Effect.suspend((): Effect.Effect<void, InvalidInput> => {
        isUnfinished = false
        return size !== undefined && sent < size
          ? Effect.fail(problems.length(size))
          : !compared || end()
          ? Effect.void
          : Effect.fail(problems.bytes())
      })
      return Stream.concat(Stream.tap(content, report), Stream.fromEffectDrain(finish))
    })
    return {
      // Waits for the interruption, because a failure of the stream would be one of the transport.
      content: Stream.catchCause(checked, (cause) =>
        Stream.fromEffectDrain(Effect.andThen(Deferred.failCause(failed, cause), Effect.never))),
      // A later run follows an attempt that may have stored the file, whether the client or the HTTP client made it.
      failure: Effect.mapError(
        Deferred.await(failed),
        (failure) => Predicate.isObjectOrArray(failure) ? MayHaveHappened.record(failure, runs > 1) : failure
      ),
      isStarted: () => runs > 0,
      isUnfinished: () => isUnfinished
    }
  })
