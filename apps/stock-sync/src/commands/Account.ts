/** The account as the settings show it. */
import type { Settings as ClientSettings } from "@plaza/client"
import * as Redacted from "effect/Redacted"
import { createHash } from "node:crypto"

// Enough to tell keys apart, and too little to find one by.
const length = 16

export const of = ({ apiKey, baseUrl }: Pick<ClientSettings.Settings["Type"], "apiKey" | "baseUrl">) => ({
  baseUrl,
  keyFingerprint: createHash("sha256").update(Redacted.value(apiKey)).digest("hex").slice(0, length)
})
