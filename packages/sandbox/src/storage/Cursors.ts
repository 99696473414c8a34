/**
 * Opaque cursors: where a list goes on, signed so that an altered or invented one is refused. The latitude decides their
 * form and how long they are good for.
 *
 * Source: interface v1, "List behaviour", rules 3 and 6.
 *
 * @since 0.1.0
 */
import type { ValidationError } from "@plaza/domain/Errors"
import type { Cursor } from "@plaza/domain/Ids"
import { Cursor as CursorSchema } from "@plaza/domain/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { createHmac, timingSafeEqual } from "node:crypto"
import { invalidField } from "../http/Envelope.js"
import type { Latitude } from "../Latitude.js"
import { CurrentLatitude } from "../latitude/CurrentLatitude.js"

const optional = <S extends Schema.Schema.All>(schema: S) => Schema.optionalWith(schema, { exact: true })

const Place = Schema.Struct({
  /** The place in the list after which the next page begins. */
  after: Schema.Array(Schema.Number),
  /** Whether the page that gave this cursor out held nothing, so that the next one must not. */
  isAfterNone: optional(Schema.Boolean)
})
/**
 * Where a page begins.
 *
 * @since 0.1.0
 * @category models
 */
export interface Place extends Schema.Schema.Type<typeof Place> {}

/** Which list of whose, and where it goes on. */
const Sealed = Schema.parseJson(Schema.Struct({
  list: Schema.String,
  account: Schema.String,
  ...Place.fields,
  /** When it was given out; absent where cursors do not expire. */
  at: optional(Schema.Number)
}))
const read = Schema.decodeUnknownOption(Sealed)

const signatureLength = 16

/** Characters that mean something in a query, and some that are not ASCII. */
const specialCharacters = "/+=&? %\"#é☃😀"
const longLength = 2_000
const filler = "~"

const toHex = (bytes: Buffer) => bytes.toString("hex")

/** Writes bytes in the form that a latitude asks for. */
const spell = (form: Latitude["cursorForm"], bytes: Buffer): string => {
  switch (form) {
    case "base64url":
      return bytes.toString("base64url")
    case "decimal":
      // The digit in front keeps leading zeros.
      return BigInt(`0x1${toHex(bytes)}`).toString()
    case "uuid":
      return toHex(bytes).replace(/.{32}/g, (run) => `${run.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")}.`)
    case "special":
      return specialCharacters + bytes.toString("base64url")
    case "long":
      return bytes.toString("base64url").padEnd(longLength, filler)
  }
}

const bytesOf = (form: Latitude["cursorForm"], cursor: string): Buffer => {
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
export class Cursors extends Context.Tag("@plaza/sandbox/Cursors")<Cursors, {
  /** Seals a place in a list; `now` is in milliseconds since 1970. */
  readonly seal: (list: string, account: string, place: Place, now: number) => Cursor
  /** Opens a cursor of the same list and account. */
  readonly open: (
    list: string,
    account: string,
    cursor: Cursor,
    now: number
  ) => Either.Either<Place, ValidationError>
}>() {}

/**
 * Cursors of one seed are good for as long as its data, over a restart too, unless a latitude lets them expire.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (seed: number): Layer.Layer<Cursors, never, CurrentLatitude> =>
  Layer.effect(
    Cursors,
    Effect.map(CurrentLatitude, (latitude) => {
      const sign = (content: Buffer) =>
        createHmac("sha256", `cursors of sandbox ${seed}`).update(content).digest().subarray(0, signatureLength)
      const unknown = Either.left(invalidField("cursor", "is not a cursor that this list gave out"))
      const expired = Either.left(invalidField("cursor", "has expired: begin the list again"))
      return {
        seal: (list, account, place, now) => {
          const { cursorExpiresAfterMillis, cursorForm } = latitude.value
          const expiring = cursorExpiresAfterMillis === 0 ? {} : { at: now }
          const content = Buffer.from(JSON.stringify({ list, account, ...place, ...expiring }))
          return CursorSchema.make(spell(cursorForm, Buffer.concat([sign(content), content])))
        },
        open: (list, account, cursor, now) => {
          const { cursorExpiresAfterMillis, cursorForm } = latitude.value
          const bytes = bytesOf(cursorForm, cursor)
          const content = bytes.subarray(signatureLength)
          // The decoders skip what is not theirs, so the same bytes have many spellings; only ours is taken.
          const ours = bytes.length > signatureLength && spell(cursorForm, bytes) === cursor &&
            timingSafeEqual(sign(content), bytes.subarray(0, signatureLength))
          const place = ours ? read(content.toString("utf8")) : Option.none()
          return Option.isNone(place) || place.value.list !== list || place.value.account !== account
            ? unknown
            : cursorExpiresAfterMillis > 0 && now - (place.value.at ?? 0) > cursorExpiresAfterMillis
            ? expired
            : Either.right(place.value)
        }
      }
    })
  )
