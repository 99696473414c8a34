/** A file uploaded by the client on undici. Measures time, CPU and memory growth of the process. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Media, Profiles } from "@plaza/client"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { onRequest } from "../ChildProtocol.ts"
import { clientOf } from "../Client.ts"

const sampleMillis = 10

onRequest(async (request) => {
  // The cast is true: only the benchmark `upload` sends requests, and of this type.
  const { address, path } = request as { readonly address: string; readonly path: string }
  const runtime = ManagedRuntime.make(Layer.provideMerge(clientOf(`${address}/open/v1`), NodeServices.layer))
  // One call first loads the code.
  await runtime.runPromise(Effect.flatMap(Profiles, ({ me }) => me))
  const idle = process.memoryUsage.rss()
  let largest = idle
  const sampler = setInterval(() => (largest = Math.max(largest, process.memoryUsage.rss())), sampleMillis)
  const cpuBefore = process.cpuUsage()
  const before = process.hrtime.bigint()
  const { mediaId } = await runtime.runPromise(Effect.flatMap(Media, ({ uploadFile }) => uploadFile(path)))
  const seconds = Number(process.hrtime.bigint() - before) / 1e9
  const { system, user } = process.cpuUsage(cpuBefore)
  clearInterval(sampler)
  await runtime.dispose()
  return { bytes: Number(mediaId), seconds, cpu: (user + system) / 1e6, growth: largest - idle }
})
