/** A file uploaded by Plaza on undici. */
import * as NodeContext from "@effect/platform-node/NodeContext"
import { Media, Plaza, Profiles } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import { apiKey } from "../apiKey.js"
import { sending } from "./sending.js"

sending(async ({ address, path }) => {
  const client = Plaza.layer({ baseUrl: `${address}/open/v1`, apiKey: Redacted.make(apiKey) })
  const runtime = ManagedRuntime.make(Layer.provideMerge(Layer.provide(client, NodeClient.layer), NodeContext.layer))
  // One call before, so that what is measured is the upload and not the loading of code.
  await runtime.runPromise(Effect.flatMap(Profiles, ({ me }) => me))
  return {
    upload: () =>
      runtime.runPromise(Effect.flatMap(Media, ({ uploadFile }) => Effect.map(uploadFile(path), ({ mediaId }) => Number(mediaId)))),
    end: () => runtime.dispose()
  }
})
