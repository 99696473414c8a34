/**
 * Opaque cursors: where a list goes on, sealed so that an altered or invented one is told from our own. Knows nothing
 * of what is listed.
 *
 * Source: interface v1, "List behaviour", rules 3 and 6.
 *
 * @since 0.1.0
 */
import type { ValidationError } from "@plaza/domain/Errors"
import type { Cursor } from "@plaza/domain/Ids"
import { Cursor as CursorSchema } from "@plaza/domain/Ids"
import * as Context from "effect/Context"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { createHmac, timingSafeEqual } from "node:crypto"
import { invalidField } from "./Envelope.js"

/** Which list of whose, and the place after which the next page begins. */
const Sealed = Schema.parseJson(Schema.Struct({
  list: Schema.String,
  account: Schema.String,
  after: Schema.Array(Schema.Number)
}))
const read = Schema.decodeUnknownOption(Sealed)

const signatureLength = 16

/** @since 0.1.0 @category services */
export class Cursors extends Context.Tag("@plaza/sandbox/Cursors")<Cursors, {
  /** Seals a place in a list. */
  readonly seal: (list: string, account: string, after: ReadonlyArray<number>) => Cursor
  /** Opens a cursor of the same list and account. */
  readonly open: (
    list: string,
    account: string,
    cursor: Cursor
  ) => Either.Either<ReadonlyArray<number>, ValidationError>
}>() {}

/**
 * Cursors of one seed are good for as long as its data, over a restart too.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (seed: number): Layer.Layer<Cursors> =>
  Layer.sync(Cursors, () => {
    const sign = (content: Buffer) =>
      createHmac("sha256", `cursors of sandbox ${seed}`).update(content).digest().subarray(0, signatureLength)
    const unknown = Either.left(invalidField("cursor", "is not a cursor that this list gave out"))
    return {
      seal: (list, account, after) => {
        const content = Buffer.from(JSON.stringify({ list, account, after }))
        return CursorSchema.make(Buffer.concat([sign(content), content]).toString("base64url"))
      },
      open: (list, account, cursor) => {
        const bytes = Buffer.from(cursor, "base64url")
        const content = bytes.subarray(signatureLength)
        // The decoder skips what isn't base64url, so the same bytes have many spellings; ours is the only one taken.
        const ours = bytes.length > signatureLength && bytes.toString("base64url") === cursor &&
          timingSafeEqual(sign(content), bytes.subarray(0, signatureLength))
        const place = ours ? read(content.toString("utf8")) : Option.none()
        return Option.isSome(place) && place.value.list === list && place.value.account === account
          ? Either.right(place.value.after)
          : unknown
      }
    }
  })
