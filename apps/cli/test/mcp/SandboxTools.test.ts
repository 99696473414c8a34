/** The further tools of `plaza mcp --sandbox`, on the control API of a sandbox. */
import { NodeServices } from "@effect/platform-node"
import { layer } from "@effect/vitest"
import { Plaza } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import { faultPresets, Sandbox } from "@plaza/sandbox"
import { ConfigProvider, Effect, FileSystem, Layer, Schema } from "effect"
import { expect } from "vitest"
import { listed } from "../../src/mcp/McpServer.ts"
import { tools } from "../../src/mcp/SandboxTools.ts"
import * as Mcp from "../support/Mcp.ts"

const names = [
  "sandboxRequests",
  "sandboxRequest",
  "sandboxListFaults",
  "sandboxAddFault",
  "sandboxClearFaults",
  "sandboxReadClock",
  "sandboxAdvanceClock",
  "sandboxRemoveFault",
  "sandboxSnapshotsList",
  "sandboxSnapshotsSave",
  "sandboxSnapshotsRestore",
  "sandboxSnapshotsRemove"
]

const client = Layer.unwrap(Effect.map(Sandbox.Sandbox, ({ apiKey, baseUrl }) => Plaza.layer({ apiKey, baseUrl })))
const services = Layer.merge(
  Layer.provideMerge(Layer.provide(client, NodeClient.layer), Sandbox.layerServer({ freezeClock: true })),
  NodeServices.layer
)

const call = (name: string, args: Readonly<Record<string, unknown>> = {}) =>
  Effect.gen(function*() {
    const { baseUrl } = yield* Sandbox.Sandbox
    const tool = tools.find((tool) => tool.name === name)
    if (tool === undefined) return yield* Effect.die(new Error(`no tool ${name}`))
    const env = ConfigProvider.fromEnv({ env: { PLAZA_BASE_URL: baseUrl } })
    return yield* Effect.provideService(Effect.flatten(tool.prepare(args)), ConfigProvider.ConfigProvider, env)
  })

const invalid = (field: string) => expect.objectContaining({ _tag: "InvalidInput", field }) as unknown

layer(services, { excludeTestServices: true })("the tools of a sandbox", (it) => {
  it.effect("are the endpoints for faults, clock, snapshots and requests, with short schemas", () =>
    Effect.sync(() => {
      const all = tools.map(listed)
      expect(all.map(({ name }) => name).toSorted()).toEqual(names.toSorted())
      for (const { annotations, description, inputSchema, name, outputSchema, title } of all) {
        expect(title).toMatch(/^Sandbox: [a-z]/)
        expect(description).toMatch(/\.$/)
        expect(annotations.openWorldHint).toBe(false)
        expect(JSON.stringify([inputSchema, outputSchema])).not.toContain("$ref")
        expect(JSON.stringify(outputSchema).length + (name === "sandboxAddFault" ? 0 : JSON.stringify(inputSchema).length)).toBeLessThan(
          3_000
        )
      }
    }))

  it.effect("add, list, remove and clear faults, of JSON and of a preset", () =>
    Effect.gen(function*() {
      const [preset = ""] = Object.keys(faultPresets)
      const fault = { kind: "status", when: "before", status: 503, times: 2 }
      const { id } = yield* call("sandboxAddFault", { fault, preset: null })
      yield* call("sandboxAddFault", { preset })
      expect(yield* call("sandboxListFaults")).toMatchObject({ data: [{ id, fault }, { fault: faultPresets[preset]?.fault }] })
      expect(yield* call("sandboxRemoveFault", { id })).toEqual({ done: true })
      expect(yield* call("sandboxListFaults")).toMatchObject({ data: [{}] })
      expect(yield* call("sandboxClearFaults")).toEqual({ done: true })
      expect(yield* call("sandboxListFaults")).toEqual({ data: [], unused: [] })
      expect(yield* Effect.flip(call("sandboxRemoveFault", { id }))).toMatchObject({ _tag: "NotFound" })
    }))

  it.effect("read and advance the clock", () =>
    Effect.gen(function*() {
      expect(yield* call("sandboxReadClock")).toEqual({ now: "2026-01-01T00:00:00.000Z", aheadMillis: 0, frozen: true })
      expect(yield* call("sandboxAdvanceClock", { millis: 60_000 })).toMatchObject({ now: "2026-01-01T00:01:00.000Z" })
    }))

  it.effect("save, list, restore and remove snapshots", () =>
    Effect.gen(function*() {
      expect(yield* call("sandboxSnapshotsSave", { name: "a.b" })).toMatchObject({ name: "a.b" })
      expect(yield* call("sandboxSnapshotsList")).toMatchObject({ data: [{ name: "a.b" }] })
      expect(yield* call("sandboxSnapshotsRestore", { name: "a.b" })).toEqual({ done: true })
      expect(yield* call("sandboxSnapshotsRemove", { name: "a.b" })).toEqual({ done: true })
      expect(yield* call("sandboxSnapshotsList")).toEqual({ data: [] })
    }))

  it.effect("show the log of requests", () =>
    Effect.gen(function*() {
      yield* Effect.exit(Plaza.request({ method: "GET", path: "/missing", response: Schema.Unknown }))
      const page = yield* call("sandboxRequests", { path: "/missing", limit: 1 })
      expect(page).toMatchObject({ data: [{ method: "GET", path: "/missing", status: 404 }] })
      // The cast is true: the page has one request.
      const { data: [request] } = page as unknown as { readonly data: readonly [{ readonly id: string }] }
      expect(yield* call("sandboxRequest", { id: request.id })).toMatchObject({ id: request.id, path: "/missing" })
      expect(yield* call("sandboxRequests", { count: "true" })).toEqual({ count: expect.any(Number) as unknown })
    }))

  it.effect("fail with the argument that is wrong", () =>
    Effect.gen(function*() {
      expect(yield* Effect.flip(call("sandboxAddFault"))).toEqual(invalid("fault"))
      expect(yield* Effect.flip(call("sandboxAddFault", { fault: {}, preset: "outage" }))).toEqual(invalid("fault"))
      expect(yield* Effect.flip(call("sandboxAddFault", { preset: "constructor" }))).toEqual(invalid("preset"))
      expect(yield* Effect.flip(call("sandboxAddFault", { fault: { kind: "none" } }))).toMatchObject({
        _tag: "ValidationError",
        status: 400
      })
      expect(yield* Effect.flip(call("sandboxAdvanceClock"))).toEqual(invalid("millis"))
      expect(yield* Effect.flip(call("sandboxAdvanceClock", { millis: -1 }))).toMatchObject({ _tag: "ValidationError" })
      expect(yield* Effect.flip(call("sandboxRequest", { id: "x", other: 1 }))).toEqual(invalid("other"))
    }))

  it.effect("are offered with --sandbox only, and change that sandbox", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const state = yield* fs.makeTempDirectoryScoped({ prefix: "plaza-mcp-" })
      const server = yield* Mcp.connect(["--sandbox"], state)
      const offered = (yield* server.listTools).map(({ name }) => name)
      expect(offered).toEqual(expect.arrayContaining(["getMe", ...names]))
      expect(yield* server.call("sandboxAddFault", { fault: { kind: "status", when: "before", status: 403, code: "FORBIDDEN" } }))
        .toMatchObject({ structuredContent: { id: expect.any(String) as unknown } })
      expect(yield* server.call("getMe")).toMatchObject({ _meta: { "plaza/error": { tag: "Forbidden" } } })
      expect(yield* server.call("getMe")).toMatchObject({ structuredContent: { id: "1001" } })
      expect(yield* server.call("sandboxRequests", { limit: 5 })).toMatchObject({
        structuredContent: { data: [{ status: null }, { status: 200 }] }
      })
      expect(yield* server.call("sandboxRemoveFault", { id: "none" })).toMatchObject({
        isError: true,
        _meta: { "plaza/error": { tag: "NotFound", outcome: "notDone" } }
      })
      const other = yield* Mcp.connect([], state)
      expect((yield* other.listTools).filter(({ name }) => name.startsWith("sandbox"))).toEqual([])
    }))
})
