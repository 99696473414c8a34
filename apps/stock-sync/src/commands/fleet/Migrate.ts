/** `fleet migrate`: creates or updates the tables of a fleet, and seals anew what an earlier secret sealed. Safe beside runners. */
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as FleetAccounts from "../../fleet/FleetAccounts.ts"
import * as FleetDatabase from "../../fleet/FleetDatabase.ts"
import * as FleetMigrations from "../../fleet/FleetMigrations.ts"
import * as FleetSecret from "../../fleet/FleetSecret.ts"
import * as SealedSecrets from "../../fleet/SealedSecrets.ts"
import * as Format from "../Format.ts"

export const layer = Layer.provideMerge(FleetAccounts.layer, FleetDatabase.layerConfig)

// More are of no use in a message. `fleet accounts list` shows the problem of each account.
const mostNamed = 20

export const run = Effect.gen(function*() {
  const output = yield* Output
  const secret = yield* FleetSecret.fromConfig
  const migrations = yield* FleetMigrations.migrate
  // Without a secret there is nothing to seal, and runners report that they need one.
  if (Option.isSome(secret)) yield* SealedSecrets.check(secret)
  const { resealed, unopened } = Option.isSome(secret) ? yield* SealedSecrets.reseal(secret.value) : { resealed: 0, unopened: [] }
  const prepared = migrations.length === 0
    ? "The database of the fleet is up to date."
    : `The database of the fleet is prepared by ${Format.count(migrations.length, "migration")}.`
  const sealed = resealed === 0 ? "" : ` The secrets of ${Format.count(resealed, "account")} are sealed anew.`
  yield* output.done({ migrations, resealed, unopened: { count: unopened.length, accounts: unopened.slice(0, mostNamed) } },
    `${prepared}${sealed}`)
  if (unopened.length > 0) {
    const more = unopened.length > mostNamed ? " and more" : ""
    yield* output.note(
      `No secret in ${FleetSecret.variable} opens what is sealed for ${Format.count(unopened.length, "account")} (${
        unopened.slice(0, mostNamed).join(", ")
      }${more}): add the secret that sealed it, or set it again with fleet accounts update.`
    )
  }
})
