/**
 * Masks API keys in the report of a failure. A key that was typed in place of another word would otherwise be repeated by the message
 * that refuses the word, and reach logs and screenshots.
 */
import { keySecretLength } from "@plaza/domain/Limits"
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import type { Report } from "./Report.ts"

const documented = new RegExp(`[A-Za-z0-9]+_[A-Za-z0-9]{${keySecretLength},}`, "g")

// A shorter text may be a word.
const minLength = 8

// Of a shorter key, four characters would reveal too much.
const minLengthToShow = 20

// A message may shorten a word, so the beginning of a key counts as the key.
const beginning = 8

/** The keys of this run. */
class Keys extends Context.Reference<Ref.Ref<ReadonlyArray<string>>>("@plaza/cli-kit/KeyMask", {
  defaultValue: () => Ref.makeUnsafe<ReadonlyArray<string>>([])
}) {}

const add = (keys: ReadonlyArray<string>): Effect.Effect<void> =>
  Effect.flatMap(Keys, Ref.update((known) => [...known, ...keys.filter((key) => key.length >= minLength && !known.includes(key))]))

/** Runs an effect with its own list of keys. */
export const scoped = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideServiceEffect(effect, Keys, Ref.make<ReadonlyArray<string>>([]))

/** Masks this key from now on. */
export const addKey = (key: Redacted.Redacted): Effect.Effect<void> => add([Redacted.value(key)])

/** Masks the key in the environment from now on. */
export const addConfigured: Effect.Effect<void> = Config.option(Config.String("PLAZA_API_KEY")).pipe(
  Effect.flatMap((key) => add(Option.toArray(key))),
  // The command reports it.
  Effect.ignore
)

/** Masks the words of a command line that look like a key from now on. */
export const addWords = (argv: ReadonlyArray<string>): Effect.Effect<void> => add(argv.flatMap((word) => word.match(documented) ?? []))

/** The last four characters of a long key. */
export const masked = (key: string): string => key.length < minLengthToShow ? "****" : `****${key.slice(-4)}`

const maskOne = (text: string, key: string): string => {
  const start = text.indexOf(key.slice(0, beginning))
  if (start === -1) return text
  let end = start + beginning
  while (end < text.length && end - start < key.length && text[end] === key[end - start]) end++
  return text.slice(0, start) + (end - start === key.length ? masked(key) : "****") + maskOne(text.slice(end), key)
}

const maskValue = (keys: ReadonlyArray<string>) => {
  const text = (text: string): string => keys.reduce(maskOne, text)
  const value = (one: unknown): unknown =>
    Predicate.isString(one) ? text(one) : Array.isArray(one) ? one.map(value) : Predicate.isObject(one) ? record(one) : one
  const record = (fields: object): Readonly<Record<string, unknown>> =>
    Object.fromEntries(Object.entries(fields).map(([name, one]) => [name, value(one)]))
  return { text, record }
}

const known = Effect.flatMap(Keys, Ref.get)

/** Masks the known keys in a text. */
export const text = (written: string): Effect.Effect<string> => Effect.map(known, (keys) => maskValue(keys).text(written))

/** Masks the known keys in a report. */
export const report = (failure: Report): Effect.Effect<Report> =>
  Effect.map(known, (keys) => {
    if (keys.length === 0) return failure
    const { record, text } = maskValue(keys)
    return {
      ...failure,
      message: text(failure.message),
      details: record(failure.details),
      summary: text(failure.summary),
      ...(failure.reason === undefined ? {} : { reason: text(failure.reason) }),
      remediation: failure.remediation.map(text)
    }
  })
