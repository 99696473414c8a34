/** `fleet accounts import`: adds and updates the accounts of a CSV file, all of them or none. */
import { Explained, UsageError } from "@plaza-legacy/cli-kit/CliError"
import { Output } from "@plaza-legacy/cli-kit/Output"
import { Streams } from "@plaza-legacy/cli-kit/Streams"
import * as Text from "@plaza-legacy/cli-kit/Text"
import { quoted } from "@plaza-legacy/tabular/Quoted"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"
import * as AccountFile from "../../fleet/AccountFile.ts"
import { AccountOptions } from "../../fleet/AccountOptions.ts"
import { FleetAccounts } from "../../fleet/FleetAccounts.ts"
import * as Format from "../Format.ts"

interface Rejected {
  readonly line: number
  readonly reason: string
}

// Rows that are looked up, checked and stored together.
const batch = 500
// A file with more has one mistake in all rows.
const mostListed = 100

export const run = (file: string) =>
  Effect.gen(function*() {
    const output = yield* Output
    const accounts = yield* FleetAccounts
    const { accept } = yield* AccountOptions
    const name = AccountFile.nameOf(file)
    const lines = new Map<string, number>()
    const rejected: Array<Rejected> = []
    let rows = 0
    let invalid = 0
    const reject = (line: number, reason: string) => {
      invalid++
      if (rejected.length < mostListed) rejected.push({ line, reason })
    }

    const acceptAll = (chunk: Chunk.Chunk<AccountFile.Row>) =>
      Effect.gen(function*() {
        const before = yield* accounts.some(Chunk.toReadonlyArray(chunk).flatMap((row) => row._tag === "Valid" ? [row.account.id] : []))
        return yield* Effect.forEach(chunk, (row) =>
          Effect.gen(function*() {
            rows++
            if (row._tag === "Rejected") return reject(row.line, row.reason), []
            const { account, line } = row
            const earlier = lines.get(account.id)
            if (earlier !== undefined) return reject(line, `id ${quoted(account.id)} is also on line ${earlier}: keep one of them`), []
            lines.set(account.id, line)
            const accepted = yield* Effect.either(accept(account, before.get(account.id)))
            if (Either.isRight(accepted)) return [accepted.right]
            return reject(line, accepted.left.message), []
          }))
      })

    const refuse = Effect.gen(function*() {
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
        Stream.mapConcat((accepted) => accepted.flat()),
        // The transaction ends here without a change if a row is invalid.
        Stream.concat(Stream.unwrap(Effect.suspend(() => Effect.as(invalid > 0 ? refuse : Effect.void, Stream.empty))))
      )
    )
    const { added, unchanged, updated } = stored
    yield* output.done(stored, `${Format.count(added, "account")} added, ${updated} updated, ${unchanged} unchanged.`)
  })
