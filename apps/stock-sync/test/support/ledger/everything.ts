/** All tests that hold for every ledger. */
import { guard, previews } from "./guard.ts"
import type { Kind } from "./kind.ts"
import { model } from "./model.ts"
import { rules } from "./rules.ts"
import { sends } from "./sends.ts"
import { snapshots } from "./snapshots.ts"
import { accounts, users } from "./users.ts"

/** How often property tests run. */
export interface Runs {
  readonly each: number
  readonly rules: number
  readonly model: number
}

export const inFile: Runs = { each: 20, rules: 60, model: 200 }
export const inPostgres: Runs = { each: 5, rules: 25, model: 40 }

export const everything = (kind: Kind, runs: Runs): void => {
  snapshots(kind, runs.each)
  rules(kind, runs.rules)
  sends(kind, runs.each)
  guard(kind)
  previews(kind)
  accounts(kind)
  users(kind)
  model(kind, runs.model)
}
