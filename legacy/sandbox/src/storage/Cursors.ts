/**
 * Opaque cursors, signed so that an altered or invented one is rejected. The latitude decides their form and when they
 * expire.
 *
 * Source: interface v1, "List behaviour", rules 3 and 6.
 *
 * @since 0.1.0
 */
import type { ValidationError } from "@plaza-legacy/domain/Errors"
import type { Cursor } from "@plaza-legacy/domain/Ids"
import { Cursor as CursorSchema } from "@plaza-legacy/domain/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { createHmac, timingSafeEqual } from "node:crypto"
import { invalidField } from "../http/Envelope.ts"
import type { Latitude } from "../Latitude.ts"
import { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import { onFirstUse } from "../OnFirstUse.ts"
import { optional } from "../OptionalField.ts"

const PageStart = Schema.Struct({
  /** The position of the last row of the previous page. */
  after: Schema.Array(Schema.Number),
  /** Whether the previous page was empty, in which case this one isn't. */
  isAfterEmptyPage: optional(Schema.Boolean)
})
/**
 * Where a page starts.
 *
 * @since 0.1.0
 * @category models
 */
export interface PageStart extends Schema.Schema.Type<typeof PageStart> {}

const Content = Schema.parseJson(Schema.Struct({
  list: Schema.String,
  account: Schema.String,
  ...PageStart.fields,
  /** When the cursor was issued; absent where cursors don't expire. */
  at: optional(Schema.Number)
}))
const decodeContent = onFirstUse(() => Schema.decodeUnknownOption(Content))

const signatureLength = 16

/** Characters with a meaning in a query string, and some outside of ASCII. */
const specialCharacters = "/+=&? %\"#é☃😀"
const longLength = 2_000
const filler = "~"

const toHex = (bytes: Buffer) => bytes.toString("hex")

const encodeBytes = (form: Latitude["cursorForm"], bytes: Buffer): string => {
  switch (form) {
    case "base64url":
      return bytes.toString("base64url")
    case "decimal":
      // The leading digit keeps leading zeros.
      return BigInt(`0x1${toHex(bytes)}`).toString()
    case "uuid":
      return toHex(bytes).replace(/.{32}/g, (run) => `${run.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")}.`)
    case "special":
      return specialCharacters + bytes.toString("base64url")
    case "long":
      return bytes.toString("base64url").padEnd(longLength, filler)
  }
}

const decodeBytes = (form: Latitude["cursorForm"], cursor: string): Buffer => {
  switch (form) {
    case "base64url":
      return Buffer.from(cursor, "base64url")
    case "decimal":
      return /^\d{1,10000}$/.test(cursor) ? Buffer.from(BigInt(cursor).toString(16).slice(1), "hex") : Buffer.alloc(0)
    case "uuid":
      return Buffer.from(cursor.replace(/[-.]/g, ""), "hex")
    case "special":
      return Buffer.from(cursor.slice(specialCharacters.length), "base64url")
    case "long":
      return Buffer.from(cursor.replace(/~+$/, ""), "base64url")
  }
}

/** @since 0.1.0 @category services */
export class Cursors extends Context.Tag("@plaza-legacy/sandbox/Cursors")<Cursors, {
  /** Issues a cursor; `now` is in milliseconds since 1970. */
  readonly issue: (list: string, account: string, start: PageStart, now: number) => Cursor
  /** Verifies a cursor; fails when it is expired, forged or of another list or account. */
  readonly verify: (
    list: string,
    account: string,
    cursor: Cursor,
    now: number
  ) => Either.Either<PageStart, ValidationError>
}>() {}

/**
 * The signing key derives from the seed, so cursors stay valid after a restart.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (seed: number): Effect.Effect<Cursors["Type"], never, CurrentLatitude> =>
  Effect.map(CurrentLatitude, (latitude) => {
    const sign = (content: Buffer) =>
      createHmac("sha256", `cursors of sandbox ${seed}`).update(content).digest().subarray(0, signatureLength)
    return {
      issue: (list, account, start, now) => {
        const { cursorExpiresAfterMillis, cursorForm } = latitude.value
        const expiring = cursorExpiresAfterMillis === 0 ? {} : { at: now }
        const content = Buffer.from(JSON.stringify({ list, account, ...start, ...expiring }))
        return CursorSchema.make(encodeBytes(cursorForm, Buffer.concat([sign(content), content])))
      },
      verify: (list, account, cursor, now) => {
        const { cursorExpiresAfterMillis, cursorForm } = latitude.value
        const bytes = decodeBytes(cursorForm, cursor)
        const content = bytes.subarray(signatureLength)
        // Decoding skips foreign characters, so many texts give the same bytes: only the canonical one is valid.
        const isValid = bytes.length > signatureLength && encodeBytes(cursorForm, bytes) === cursor &&
          timingSafeEqual(sign(content), bytes.subarray(0, signatureLength))
        const start = isValid ? decodeContent(content.toString("utf8")) : Option.none()
        return Option.isNone(start) || start.value.list !== list || start.value.account !== account
          ? Either.left(invalidField("cursor", "was not issued by this list"))
          : cursorExpiresAfterMillis > 0 && now - (start.value.at ?? 0) > cursorExpiresAfterMillis
          ? Either.left(invalidField("cursor", "has expired: read the list again from its first page"))
          : Either.right(start.value)
      }
    }
  })
