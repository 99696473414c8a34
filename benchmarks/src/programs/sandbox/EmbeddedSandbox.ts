/** A minimal program that embeds a sandbox: starts it in memory, sends one request over its socket and ends. */
import { Sandbox } from "@plaza/sandbox"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { get } from "node:http"

const request = Effect.flatMap(Sandbox.Sandbox, ({ apiKey, baseUrl }) =>
  Effect.async<void>((resume) => {
    get(`${baseUrl}/me`, { headers: { authorization: `Bearer ${Redacted.value(apiKey)}` } }, (response) => {
      response.resume().on("end", () => resume(Effect.void))
    })
  }))

Effect.runPromise(Effect.provide(request, Sandbox.layerServer())).then(() => process.exit(0), () => process.exit(1))
