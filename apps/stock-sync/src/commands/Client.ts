/** The client of the commands that call the service, and the account that its settings name. */
import { Plaza, type Settings as ClientSettings } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { createHash } from "node:crypto"
import * as CountedClient from "../sync/CountedClient.js"
import { name, version } from "../version.js"

/** Its requests are counted in the current ledger. */
export const layer = Plaza.layerConfigFor(`${name}/${version}`).pipe(
  Layer.provide(CountedClient.layer),
  Layer.provide(NodeClient.layer)
)

// Enough to tell keys apart, and too short to find the key.
const fingerprintLength = 16

/** The account by its settings. Only the service knows its id. */
export const accountOf = ({ apiKey, baseUrl }: Pick<ClientSettings.Settings["Type"], "apiKey" | "baseUrl">) => ({
  baseUrl,
  keyFingerprint: createHash("sha256").update(Redacted.value(apiKey)).digest("hex").slice(0, fingerprintLength)
})
