/** The schema of rows with an order, its carrier and its tracking number. */
import { OrderId } from "@plaza/domain/Ids"
import * as Result from "effect/Result"
import * as CellText from "./CellText.ts"
import * as Identity from "./Identity.ts"
import { quoted } from "./Quoted.ts"
import type { RowSchema } from "./RowSchema.ts"

export interface ValidRow {
  readonly _tag: "Valid"
  /** The line where the row starts, from 1 with the header. */
  readonly line: number
  readonly orderId: OrderId
  readonly carrier: string
  readonly trackingNumber: string
}

/** A row that can't be used. */
export interface RejectedRow {
  readonly _tag: "Rejected"
  readonly line: number
  /** The order, if its id can be read. */
  readonly orderId: string | undefined
  /** The reason, as a clause after "line 12: ". */
  readonly reason: string
}

export type Row = ValidRow | RejectedRow

// A long number as spreadsheets write it: its last digits are lost.
const rounded = /^\d([.,]\d+)?[eE]\+?\d+$/

// A name may start with an apostrophe ('t Hart). Before a number it is the text mark of a spreadsheet.
const isMarked = (text: string): boolean => /^\S*\d\S*$/.test(text)

const decodeText = (column: string, value: unknown): Result.Result<string, string> => {
  if (value === undefined || value === null) return Result.fail(value === null ? `${column} is null` : `${column} is missing`)
  const written = Identity.textOf(value)
  if (written === undefined) return Result.fail(`${column} is neither a text nor an exact whole number: write it as a text`)
  const text = CellText.normalize(written, isMarked)
  if (text === "") return Result.fail(`${column} is empty`)
  if (text.includes("\uFFFD")) return Result.fail(`${column} ${quoted(text)} is not UTF-8: save the file in UTF-8`)
  return rounded.test(text)
    ? Result.fail(`${column} ${quoted(text)} is a number that a spreadsheet has rounded: write it out as a text`)
    : Result.succeed(text)
}

const decodeId = Identity.decoder(OrderId)
const [idColumn, carrierColumn, trackingColumn] = ["orderId", "carrier", "trackingNumber"]

const reject = (line: number, orderId: string | undefined, reason: string): Row => ({ _tag: "Rejected", line, orderId, reason })

export const schema: RowSchema<Row> = {
  columns: [{ name: idColumn }, { name: carrierColumn }, { name: trackingColumn }],
  empty: undefined,
  reject,
  decode: (line, [id, carrier, trackingNumber]) =>
    Result.match(
      Result.all({
        orderId: decodeId(idColumn, id),
        carrier: decodeText(carrierColumn, carrier),
        trackingNumber: decodeText(trackingColumn, trackingNumber)
      }),
      {
        onFailure: (reason) => reject(line, Identity.ofRejected(id), reason),
        onSuccess: (row): Row => ({ _tag: "Valid", line, ...row })
      }
    )
}
