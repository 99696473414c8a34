/** Rows that name an order and how it was shipped. */
import { OrderId } from "@plaza/domain/Ids"
import * as Either from "effect/Either"
import * as CellText from "./CellText.js"
import * as Identity from "./Identity.js"
import { quoted } from "./Quoted.js"
import type { RowSchema } from "./RowSchema.js"

export interface GoodRow {
  readonly _tag: "Good"
  /** Where the row begins, counted from 1 with the header. */
  readonly line: number
  readonly orderId: OrderId
  readonly carrier: string
  readonly trackingNumber: string
}

/** A rejected row. */
export interface BadRow {
  readonly _tag: "Bad"
  readonly line: number
  /** The order, where the row still names one. */
  readonly orderId: string | undefined
  /** What is wrong, in words that make sense after "line 12: ". */
  readonly reason: string
}

export type Row = GoodRow | BadRow

// A long number as spreadsheets write it: digits are lost, and with them the parcel.
const rounded = /^\d([.,]\d+)?[eE]\+?\d+$/

// A name may begin with an apostrophe ('t Hart); a number in one word has it from a spreadsheet.
const isMarked = (text: string): boolean => /^\S*\d\S*$/.test(text)

const readText = (column: string, value: unknown): Either.Either<string, string> => {
  if (value === undefined || value === null) return Either.left(value === null ? `${column} is null` : `there is no ${column}`)
  const written = Identity.textOf(value)
  if (written === undefined) return Either.left(`${column} is neither a text nor an exact whole number: write it as a text`)
  const text = CellText.plain(written, isMarked)
  if (text === "") return Either.left(`${column} is empty`)
  if (text.includes("\uFFFD")) return Either.left(`${column} ${quoted(text)} is not UTF-8: save the file in UTF-8`)
  return rounded.test(text)
    ? Either.left(`${column} ${quoted(text)} is a number that a spreadsheet has rounded: write it out as a text`)
    : Either.right(text)
}

const readId = Identity.reader(OrderId)
const [idColumn, carrierColumn, trackingColumn] = ["orderId", "carrier", "trackingNumber"]

const bad = (line: number, orderId: string | undefined, reason: string): Row => ({ _tag: "Bad", line, orderId, reason })

export const shape: RowSchema<Row> = {
  columns: [{ name: idColumn }, { name: carrierColumn }, { name: trackingColumn }],
  empty: undefined,
  bad,
  read: (line, [id, carrier, trackingNumber]) =>
    Either.match(
      Either.all({
        orderId: readId(idColumn, id),
        carrier: readText(carrierColumn, carrier),
        trackingNumber: readText(trackingColumn, trackingNumber)
      }),
      {
        onLeft: (reason) => bad(line, Identity.named(id), reason),
        onRight: (row): Row => ({ _tag: "Good", line, ...row })
      }
    )
}
