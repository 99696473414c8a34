/** A file uploaded by Plaza on undici. */
import * as NodeContext from "@effect/platform-node/NodeContext"
import { Media, Plaza, Profiles } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import { apiKey } from "../ApiKey.js"
import { serve } from "./Uploader.js"

serve(async ({ address, path }) => {
  const client = Plaza.layer({ baseUrl: `${address}/open/v1`, apiKey: Redacted.make(apiKey) })
  const runtime = ManagedRuntime.make(Layer.provideMerge(Layer.provide(client, NodeClient.layer), NodeContext.layer))
  // One call first loads the code.
  await runtime.runPromise(Effect.flatMap(Profiles, ({ me }) => me))
  return {
    upload: () =>
      runtime.runPromise(Effect.flatMap(Media, ({ uploadFile }) => Effect.map(uploadFile(path), ({ mediaId }) => Number(mediaId)))),
    close: () => runtime.dispose()
  }
})
