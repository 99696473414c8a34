/** All tests that hold for every ledger. */
import { attention } from "./attention.ts"
import { events } from "./events.ts"
import { guard, previews } from "./guard.ts"
import type { Kind } from "./kind.ts"
import { model } from "./model.ts"
import { revert } from "./revert.ts"
import { revertedSource } from "./revertedSource.ts"
import { rules } from "./rules.ts"
import { sends } from "./sends.ts"
import { snapshots } from "./snapshots.ts"
import { turns } from "./turns.ts"
import { accounts, users } from "./users.ts"

/** How often property tests run. */
export interface Runs {
  readonly each: number
  readonly rules: number
  readonly model: number
}

export const inFile: Runs = { each: 20, rules: 60, model: 200 }
export const inPostgres: Runs = { each: 5, rules: 25, model: 40 }

/** Without what only a ledger of one store has: a lock, and copies. */
export const inFleet = (kind: Kind, runs: Runs): void => {
  snapshots(kind, runs.each)
  rules(kind, runs.rules)
  sends(kind, runs.each)
  turns(kind)
  guard(kind)
  revert(kind, runs.rules)
  revertedSource(kind, runs.each)
  attention(kind, runs.rules)
  events(kind)
  accounts(kind)
  model(kind, runs.model)
}

export const everything = (kind: Kind, runs: Runs): void => {
  inFleet(kind, runs)
  previews(kind)
  users(kind)
}
