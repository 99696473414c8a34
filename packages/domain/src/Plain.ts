/**
 * Values for programs without Effect: instants as `Date`, durations in milliseconds, ids and secrets as strings, and Effects as Promises.
 *
 * @since 0.1.0
 */
import type * as Brand from "effect/Brand"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"

/**
 * A type without Effect. `Errors` has the classes that replace errors, by their tags (default: errors stay as they are). A function that
 * returns an Effect becomes one that returns its value or a Promise.
 *
 * @since 0.1.0
 * @category models
 */
export type Plain<T, Errors = unknown> = unknown extends T ? T
  : T extends { readonly _tag: keyof Errors } ? Errors[T["_tag"]]
  : T extends string ? T extends Brand.Brand<infer _Keys> ? string : T
  : T extends DateTime.DateTime ? Date
  : T extends Duration.Duration ? number
  : T extends Redacted.Redacted ? string
  : T extends Error | Uint8Array ? T
  : T extends (...args: infer Args) => Effect.Effect<infer A, infer _E, infer _R>
    ? (...args: PlainArguments<Args, Errors>) => Plain<A, Errors> | Promise<Plain<A, Errors>>
  : T extends (...args: never) => unknown ? T
  : T extends object ? { [Key in keyof T]: Plain<T[Key], Errors> }
  : T

/**
 * The arguments of a function without Effect.
 *
 * @since 0.1.0
 * @category models
 */
export type PlainArguments<Args extends ReadonlyArray<unknown>, Errors = unknown> = { [Index in keyof Args]: Plain<Args[Index], Errors> }

/**
 * Converts a value to its {@link Plain} form, except errors and functions. Arrays and objects are copied.
 *
 * @since 0.1.0
 * @category conversions
 */
export const toPlain = (value: unknown): unknown =>
  DateTime.isDateTime(value)
    ? DateTime.toDateUtc(value)
    : Duration.isDuration(value)
    ? Duration.toMillis(value)
    : Redacted.isRedacted(value)
    ? Redacted.value(value)
    : Array.isArray(value)
    ? value.map(toPlain)
    : Predicate.isObject(value) && isLiteral(value)
    ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toPlain(inner)]))
    : value

const isLiteral = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/**
 * Converts the dates in a {@link Plain} value to instants, for an argument. Arrays and objects are copied.
 *
 * @since 0.1.0
 * @category conversions
 */
export const fromPlain = (value: unknown): unknown =>
  value instanceof Date
    ? DateTime.fromDateUnsafe(value)
    : Array.isArray(value)
    ? value.map(fromPlain)
    : Predicate.isObject(value) && isLiteral(value)
    ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fromPlain(inner)]))
    : value
