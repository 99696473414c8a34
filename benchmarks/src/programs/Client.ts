/** The client on undici whose limiter counts every slot, but no call waits for one. */
import { Plaza } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { apiKey } from "./ApiKey.ts"

export const clientOf = (baseUrl: string) =>
  Layer.provide(Plaza.layer({ baseUrl, apiKey: Redacted.make(apiKey), rateLimit: 10_000_000 }), NodeClient.layer)
