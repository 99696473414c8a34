/** `fleet accounts import`: adds and updates the accounts of a CSV file, all of them or none. */
import { Explained, UsageError } from "@plaza/cli-kit/CliError"
import * as InputFile from "@plaza/cli-kit/InputFile"
import { Output } from "@plaza/cli-kit/Output"
import { Streams } from "@plaza/cli-kit/Streams"
import * as Text from "@plaza/cli-kit/Text"
import { quoted } from "@plaza/tabular/Quoted"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as AccountFile from "../../fleet/AccountFile.ts"
import { AccountOptions } from "../../fleet/AccountOptions.ts"
import { type FleetAccount, FleetAccounts } from "../../fleet/FleetAccounts.ts"
import * as Format from "../Format.ts"

interface Rejected {
  readonly line: number
  readonly reason: string
}

// Rows that are looked up and checked together.
const batch = 500
// A file with more has one mistake in all rows.
const mostListed = 100

export const run = Effect.fnUntraced(function*(file: string) {
  const output = yield* Output
  const accounts = yield* FleetAccounts
  const { accept } = yield* AccountOptions
  const name = InputFile.nameOf(file)
  const lines = new Map<string, number>()
  const rejected: Array<Rejected> = []
  let rows = 0
  let invalid = 0

  const accepted = Effect.fnUntraced(function*(row: AccountFile.Row, before: ReadonlyMap<string, FleetAccount>) {
    rows++
    const reject = (reason: string) => {
      invalid++
      if (rejected.length < mostListed) rejected.push({ line: row.line, reason })
      return []
    }
    if (row._tag === "Rejected") return reject(row.reason)
    const { id } = row.account
    const earlier = lines.get(id)
    if (earlier !== undefined) return reject(`id ${quoted(id)} is also on line ${earlier}: keep one of them`)
    lines.set(id, row.line)
    const result = yield* Effect.result(accept(row.account, before.get(id)))
    return Result.isSuccess(result) ? [result.success] : reject(result.failure.message)
  })
  const acceptAll = Effect.fnUntraced(function*(batch: ReadonlyArray<AccountFile.Row>) {
    const before = yield* accounts.some(batch.flatMap((row) => row._tag === "Valid" ? [row.account.id] : []))
    return (yield* Effect.forEach(batch, (row) => accepted(row, before))).flat()
  })

  const refuse = Effect.gen(function*() {
    if (invalid === 0) return
    const { stderr } = yield* Streams
    if (!output.json) {
      yield* Effect.ignore(stderr.write(rejected.map(({ line, reason }) => Text.visible(`${name}, line ${line}: ${reason}\n`)).join("")))
    }
    const count = rows === 1 ? "its only row is" : `${invalid} of its ${rows} rows ${invalid === 1 ? "is" : "are"}`
    return yield* new Explained({
      cause: new UsageError({ message: `${name} can't be imported: ${count} invalid; nothing was stored` }),
      explanation: "Correct the listed rows and run the command again.",
      details: { file, rows: rejected }
    })
  })

  const stored = yield* accounts.putAll(
    AccountFile.read(file).pipe(
      Stream.grouped(batch),
      Stream.mapEffect(acceptAll),
      Stream.flattenIterable,
      // Nothing is stored if a row is invalid.
      Stream.concat(Stream.unwrap(Effect.as(refuse, Stream.empty)))
    )
  )
  const { added, unchanged, updated } = stored
  yield* output.done(stored, `${Format.count(added, "account")} added, ${updated} updated, ${unchanged} unchanged.`)
})
