/** The client of the commands that call the service, and the account that its settings name. */
import { Plaza, type Settings as ClientSettings } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import { createHash } from "node:crypto"
import { CurrentLedger } from "../ledger/CurrentLedger.ts"
import type { Account } from "../ledger/Ledger.ts"
import * as CountedClient from "../sync/CountedClient.ts"
import { name, version } from "../version.ts"

/** Its requests are counted in the current ledger. */
const counted = Layer.effect(
  HttpClient.HttpClient,
  Effect.zipWith(HttpClient.HttpClient, CurrentLedger, (client, current) => CountedClient.make(client, Ref.get(current)))
)

export const layer = Plaza.layerConfigFor(`${name}/${version}`).pipe(
  Layer.provide(Layer.provide(counted, NodeClient.layerConfig))
)

// Enough to tell keys apart, and too short to find the key.
const fingerprintLength = 16

/** The account by its settings. Only the service knows its id. */
export const accountOf = ({ apiKey, baseUrl }: Pick<ClientSettings.Settings["Service"], "apiKey" | "baseUrl">): Omit<Account, "id"> => ({
  baseUrl,
  keyFingerprint: createHash("sha256").update(Redacted.value(apiKey)).digest("hex").slice(0, fingerprintLength)
})
