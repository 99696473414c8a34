/** The client of the commands that call the service, and the account that its settings name. */
import * as HttpClient from "@effect/platform/HttpClient"
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import { Plaza, type Settings as ClientSettings } from "@plaza-legacy/client"
import * as NodeClient from "@plaza-legacy/client/node"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import { CurrentLedger } from "../ledger/CurrentLedger.ts"
import * as CountedClient from "../sync/CountedClient.ts"
import { name, version } from "../version.ts"

/** Its requests are counted in the current ledger. */
export const make = Effect.gen(function*() {
  const current = yield* CurrentLedger
  const client = Context.get(yield* Layer.build(NodeClient.layerConfig), HttpClient.HttpClient)
  return yield* Effect.provideService(
    Layer.build(Plaza.layerConfigFor(`${name}/${version}`)),
    HttpClient.HttpClient,
    CountedClient.make(client, Ref.get(current))
  )
})

export const layer = Layer.scopedContext(make)

// Enough to tell keys apart, and too short to find the key.
const fingerprintLength = 16

// Loading `node:crypto` for one short text would take 3% of a run of `once`.
/** The account by its settings. Only the service knows its id. */
export const accountOf = ({ apiKey, baseUrl }: Pick<ClientSettings.Settings["Type"], "apiKey" | "baseUrl">) => ({
  baseUrl,
  keyFingerprint: bytesToHex(sha256(utf8ToBytes(Redacted.value(apiKey)))).slice(0, fingerprintLength)
})
