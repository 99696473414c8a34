/**
 * What a fresh sandbox costs a test once the modules are loaded: starts sandboxes in process one after the other, each with one
 * request and a release, and prints their milliseconds of wall time and of CPU as JSON, first to last.
 */
import { Sandbox } from "@plaza/sandbox"
import * as Effect from "effect/Effect"
import { HttpClient } from "effect/http/HttpClient"
import * as Redacted from "effect/Redacted"

const count = Number(process.argv[2] ?? 20)

const sandbox = Effect.gen(function*() {
  const { apiKey, baseUrl } = yield* Sandbox.Sandbox
  const client = yield* HttpClient
  const response = yield* client.get(`${baseUrl}/me`, { headers: { authorization: `Bearer ${Redacted.value(apiKey)}` } })
  const body = yield* response.text
  return response.status === 200 ? undefined : yield* Effect.fail(body)
})

const measures: Array<{ readonly wallMillis: number; readonly cpuMillis: number }> = []
for (let index = 0; index < count; index++) {
  const start = performance.now()
  const before = process.cpuUsage()
  // A layer of its own each time, as in a test.
  await Effect.runPromise(Effect.provide(sandbox, Sandbox.layerHttpClient()))
  const { system, user } = process.cpuUsage(before)
  measures.push({ wallMillis: performance.now() - start, cpuMillis: (user + system) / 1000 })
}
process.stdout.write(`${JSON.stringify({ first: measures[0], further: measures.slice(1) })}\n`)
