/** `fleet report`: the report of an account of a fleet, from its database. Works beside running runners. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { accountNotFound } from "../../fleet/FleetError.ts"
import * as AccountReport from "../../fleet/operations/AccountReport.ts"
import * as FleetStatus from "../../fleet/operations/FleetStatus.ts"
import { Ledger } from "../../ledger/Ledger.ts"
import * as LedgerCommands from "../../ledger/LedgerCommands.ts"
import type { Condition } from "../../observability/Report.ts"
import { capitalized } from "../../observability/StatusText.ts"
import * as Report from "../Report.ts"
import type { Options } from "../ReportOptions.ts"

/** What the fleet knows of an account beside its ledger. */
const conditionsOf = ({ id, problem, problemAt, state }: FleetStatus.AccountRow): ReadonlyArray<Condition> => [
  ...state === "paused"
    ? [{
      subject: "Account",
      tone: "note" as const,
      label: "Paused",
      lead: "Nothing is sent: an operator paused the account",
      description: ["The source is not read."],
      action: ["Run ", { code: LedgerCommands.resume(id) }, " to resume it."]
    }]
    : [],
  ...problem === null
    ? []
    : [{
      subject: "Account",
      tone: "bad" as const,
      label: "Problem",
      lead: "The account has a problem",
      description: [`${capitalized(problem)}.`, ...problemAt === null ? [] : [" Since ", problemAt, "."]],
      action: []
    }]
]

export const run = Effect.fnUntraced(function*(id: string, options: Options) {
  const row = yield* Effect.flatMap(
    FleetStatus.account(id),
    Option.match({ onNone: () => Effect.fail(accountNotFound(id)), onSome: Effect.succeed })
  )
  yield* Report.run(options, conditionsOf(row)).pipe(
    Effect.provideService(Ledger, yield* AccountReport.ledger(id)),
    Effect.provideService(LedgerCommands.LedgerCommands, LedgerCommands.ofFleet(id))
  )
})

export { layer } from "./Status.ts"
