/**
 * A file uploaded by Plaza on undici.
 *
 * @since 0.1.0
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import { Media, Plaza, Profiles } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import { answering } from "../answering.js"
import { apiKey } from "../apiKey.js"

/** @since 0.1.0 @category models */
export interface Task {
  readonly address: string
  readonly path: string
}

const sampleMillis = 10

const largest = (sizes: ReadonlyArray<number>) => sizes.reduce((most, size) => Math.max(most, size), 0)

answering(async (question) => {
  // The process that asks is ours and asks by this type.
  const { address, path } = question as Task
  const client = Plaza.layer({ baseUrl: `${address}/open/v1`, apiKey: Redacted.make(apiKey) })
  const runtime = ManagedRuntime.make(Layer.provideMerge(Layer.provide(client, NodeClient.layer), NodeContext.layer))
  // One call before, so that what is measured is the upload and not the loading of code.
  await runtime.runPromise(Effect.flatMap(Profiles, ({ me }) => me))
  const idle = process.memoryUsage.rss()
  const sizes: Array<number> = []
  const sampler = setInterval(() => sizes.push(process.memoryUsage.rss()), sampleMillis)
  const cpuBefore = process.cpuUsage()
  const before = process.hrtime.bigint()
  const { mediaId } = await runtime.runPromise(Effect.flatMap(Media, ({ uploadFile }) => uploadFile(path)))
  const seconds = Number(process.hrtime.bigint() - before) / 1e9
  const { system, user } = process.cpuUsage(cpuBefore)
  clearInterval(sampler)
  await runtime.dispose()
  return { bytes: Number(mediaId), seconds, cpu: (user + system) / 1e6, growth: largest(sizes) - idle, growthInHalf: largest(sizes.slice(0, sizes.length / 2)) - idle }
})
