/** The sandbox for tests without Effect: in process, by fetch, and on a socket. */
import { startSandbox } from "@plaza/sandbox/promise"
import { Effect, Redacted } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, describe, expect, it, vi } from "vitest"
import { Sandbox } from "../src/index.ts"

type Started = Awaited<ReturnType<typeof startSandbox>>

afterEach(() => {
  vi.useRealTimers()
})

const authorization = ({ apiKey }: Started) => ({ authorization: `Bearer ${apiKey}` })

/** A call with the key of the sandbox. */
const call = (sandbox: Started, path: string, init: RequestInit = {}) =>
  sandbox.fetch(`${sandbox.baseUrl}${path}`, {
    ...init,
    headers: { ...authorization(sandbox), ...Object.fromEntries(new Headers(init.headers)) }
  })

const post = (sandbox: Started, text: string, init: RequestInit = {}) =>
  call(sandbox, "/posts", { method: "POST", body: JSON.stringify({ text }), headers: { "content-type": "application/json" }, ...init })

it("has every member of the service, with Promises for Effects", async () => {
  await using sandbox = await startSandbox()
  const service = await Effect.runPromise(Effect.provide(Effect.map(Sandbox.Sandbox, (service) => service), Sandbox.layerHttpClient()))
  const own = Object.keys(sandbox).filter((name) => !["fetch", "close"].includes(name))
  expect(own.toSorted()).toEqual(Object.keys(service).toSorted())
  expect(sandbox.apiKey).toBe(Redacted.value(service.apiKey))
  expect(Object.keys(sandbox.worlds).toSorted()).toEqual(Object.keys(service.worlds).toSorted())
  for (const [name, value] of Object.entries(service).filter(([name]) => name !== "worlds")) {
    expect([name, typeof Reflect.get(sandbox, name)]).toEqual([
      name,
      typeof value === "function" || Effect.isEffect(value) ? "function" : name === "seed" ? "number" : "string"
    ])
  }
})

describe("in process", () => {
  it("fetch calls the service with the methods, headers and bodies of a client", async () => {
    await using sandbox = await startSandbox({ seed: 7 })
    expect(sandbox.seed).toBe(7)
    expect(await (await call(sandbox, "/me")).json()).toMatchObject({ username: "corner-shop" })
    const created = await post(sandbox, "Hello")
    expect([created.status, created.headers.get("content-type")]).toEqual([200, expect.stringContaining("application/json")])
    const refused = await sandbox.fetch(new Request(new URL(`${sandbox.baseUrl}/me`)))
    expect([refused.status, await refused.json()]).toMatchObject([401, { error: { code: "INVALID_API_KEY" } }])
    const form = new FormData()
    form.append("file", new File(["cup"], "cup.png", { type: "image/png" }))
    const media = await call(sandbox, "/media", { method: "POST", body: form })
    expect([media.status, await media.json()]).toMatchObject([200, { mediaId: expect.any(String) as unknown }])
    const [first, second] = await sandbox.requests()
    expect(first).toMatchObject({ method: "GET", path: "/me", status: 200, at: expect.any(Date) as unknown })
    expect(second).toMatchObject({ method: "POST", path: "/posts", status: 200 })
    expect(await sandbox.commits()).toMatchObject([{ operation: "createPost", at: expect.any(Date) as unknown }, {
      operation: "uploadMedia"
    }])
    expect((await sandbox.state()).posts.at(-1)).toMatchObject({ text: "Hello", createdAt: expect.any(Date) as unknown })
    await sandbox.reset()
    expect([await sandbox.requests(), await sandbox.commits()]).toEqual([[], []])
  })

  it("a dropped connection and a cut body fail as those of fetch do", async () => {
    await using sandbox = await startSandbox()
    await sandbox.addFault({ kind: "drop", when: "after", method: "POST" })
    const failure = await post(sandbox, "Dropped").catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(TypeError)
    expect(failure).toMatchObject({ message: "fetch failed", cause: { code: "ECONNRESET" } })
    await sandbox.addFault({ kind: "cut", when: "after", method: "GET" })
    const cut = await call(sandbox, "/me")
    expect(cut.status).toBe(200)
    await expect(cut.text()).rejects.toBeInstanceOf(Error)
    await expect(sandbox.fetch("https://example.com/")).rejects.toMatchObject({ message: "fetch failed", cause: { code: "ENOTFOUND" } })
  })

  it("a fault that can match no call, and a wrong option, are refused in a sentence", async () => {
    await using sandbox = await startSandbox()
    await expect(sandbox.addFault({ kind: "status", when: "after", status: 503, path: "/posts/:id" })).rejects.toThrow(
      /must have \* in place of :id/
    )
    await expect(startSandbox({ fixtures: "/no/such/file.json" })).rejects.toThrow(/file/)
    // Not of these types: code without types can pass anything.
    for (
      const [fault, message] of [[undefined, /^an argument can't be used: Expected Fault/], [
        { kind: "explode" },
        /^an argument can't be used: Expected Fault/
      ], [{ kind: "drop", when: "later" }, /when/]] as const
    ) {
      const failure = await sandbox.addFault(fault as never).catch((error: unknown) => error)
      expect(failure).toMatchObject({ _tag: "SandboxError", message: expect.stringMatching(message) as unknown })
    }
    await expect(startSandbox({ seed: "seven" as never })).rejects.toMatchObject({
      _tag: "SandboxError",
      message: "the seed must be a whole number"
    })
    await expect(startSandbox({ latitude: { maxSkewMillis: -1 } as never })).rejects.toThrow(/latitude/)
  })

  it("a request ends with its signal", async () => {
    await using sandbox = await startSandbox()
    await sandbox.addFault({ kind: "delay", when: "before", millis: 60_000 })
    const controller = new AbortController()
    const waiting = call(sandbox, "/me", { signal: controller.signal })
    controller.abort(new Error("enough"))
    await expect(waiting).rejects.toThrow("enough")
    await expect(call(sandbox, "/me", { signal: AbortSignal.abort(new Error("before")) })).rejects.toThrow("before")
  })

  it("the clock advances by request, and dates are given as dates", async () => {
    await using sandbox = await startSandbox({ freezeClock: new Date("2026-03-01T00:00:00.000Z") })
    expect(await sandbox.clock()).toMatchObject({ now: new Date("2026-03-01T00:00:00.000Z"), frozen: true })
    expect(await sandbox.advanceClock("5 minutes")).toMatchObject({ now: new Date("2026-03-01T00:05:00.000Z"), aheadMillis: 300_000 })
    const createdAt = new Date("2026-02-01T00:00:00.000Z")
    await sandbox.createPost({ text: "Old", createdAt })
    expect((await sandbox.state()).posts.find(({ text }) => text === "Old")).toMatchObject({ createdAt })
  })

  it("a new key is a text that a call can use", async () => {
    await using sandbox = await startSandbox()
    const { apiKey } = await sandbox.createKey("1001", { name: "second" })
    expect(apiKey).toEqual(expect.any(String))
    const response = await sandbox.fetch(`${sandbox.baseUrl}/me`, { headers: { authorization: `Bearer ${apiKey}` } })
    expect(response.status).toBe(200)
  })

  it("calls and bodies in progress end with the sandbox, and with their signal", async () => {
    const ends: ReadonlyArray<(controller: AbortController, sandbox: Started) => unknown> = [
      (_, sandbox) => sandbox.close(),
      (controller) => {
        controller.abort(new Error("enough"))
      }
    ]
    for (const kind of ["delay", "slow"] as const) {
      for (const [index, end] of ends.entries()) {
        const sandbox = await startSandbox()
        await sandbox.addFault({ kind, when: "after", millis: 3_600_000 })
        const controller = new AbortController()
        const waiting = call(sandbox, "/me", { signal: controller.signal }).then((response) => response.text())
        waiting.catch(() => {})
        await expect.poll(() => sandbox.countRequests()).toBe(1)
        await end(controller, sandbox)
        await expect(waiting).rejects.toThrow(index === 0 ? /fetch failed/ : /enough/)
        await sandbox.close()
      }
    }
  })

  it("options of wrong forms and names are refused as such", async () => {
    const wrong: ReadonlyArray<readonly [object, RegExp]> = [
      [{ sed: 7 }, /^sed is no option; the options are allowedHosts, .*timeouts$/],
      [{ port: -1 }, /port/],
      [{ freezeClock: new Date(Number.NaN) }, /./],
      [{ port: 0, host: 5 }, /./]
    ]
    for (const [options, message] of wrong) {
      const failure = await startSandbox(options).catch((error: unknown) => error)
      expect(failure).toMatchObject({ _tag: "SandboxError", message: expect.stringMatching(message) as unknown })
    }
    await using sandbox = await startSandbox()
    expect(await sandbox.advanceClock("bogus" as never).catch((error: unknown) => error)).toMatchObject({ _tag: "SandboxError" })
  })

  it("a closed sandbox accepts no call", async () => {
    const sandbox = await startSandbox()
    await sandbox.close()
    await expect(call(sandbox, "/me")).rejects.toMatchObject({ message: "fetch failed", cause: { code: "ECONNREFUSED" } })
    await expect(sandbox.state()).rejects.toMatchObject({ _tag: "SandboxError", message: "the sandbox is closed" })
    await expect(sandbox.addFault({ kind: "drop", when: "after" })).rejects.toThrow("the sandbox is closed")
    await sandbox.close()
  })

  it("a call without a delay needs no timers", async () => {
    vi.useFakeTimers()
    const sandbox = await startSandbox()
    expect(await (await post(sandbox, "At once")).json()).toMatchObject({ text: "At once" })
    await sandbox.close()
  })

  it("a request whose body never ends, ends with its signal", async () => {
    await using sandbox = await startSandbox()
    const controller = new AbortController()
    const body = new ReadableStream({})
    // A body within a Request is read before it is sent.
    const request = new Request(`${sandbox.baseUrl}/posts`,
      { method: "POST", body, duplex: "half", signal: controller.signal } as RequestInit)
    const waiting = sandbox.fetch(request)
    controller.abort(new Error("enough"))
    await expect(waiting).rejects.toThrow("enough")
  })

  it("delays pass on fake timers", async () => {
    vi.useFakeTimers()
    const sandbox = await startSandbox()
    await sandbox.addFault({ kind: "delay", when: "after", millis: 3_600_000 })
    const response = call(sandbox, "/me")
    await vi.advanceTimersByTimeAsync(3_600_000)
    expect((await response).status).toBe(200)
    await sandbox.close()
  })

  it("fixtures and latitude are those of the options", async () => {
    const folder = mkdtempSync(join(tmpdir(), "plaza-promise-"))
    try {
      const file = join(folder, "fixtures.json")
      writeFileSync(file, JSON.stringify({ products: [{ id: "TEAPOT", stock: 4 }] }))
      await using fromFile = await startSandbox({ fixtures: file })
      expect((await fromFile.state()).products).toContainEqual(expect.objectContaining({ id: "TEAPOT", stock: 4 }))
      await using sandbox = await startSandbox({ fixtures: { products: [{ id: "TEAPOT", stock: 5 }] }, latitude: 42 })
      expect((await sandbox.state()).products).toContainEqual(expect.objectContaining({ id: "TEAPOT", stock: 5 }))
      expect(await sandbox.latitude()).not.toEqual(await fromFile.latitude())
      expect((await call(sandbox, "/me")).status).toBe(200)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

it("with a port it listens on a socket until it is closed", async () => {
  const sandbox = await startSandbox({ port: 0 })
  expect(sandbox.fetch).toBe(globalThis.fetch)
  expect(new URL(sandbox.baseUrl).hostname).toBe("127.0.0.1")
  expect(await (await call(sandbox, "/me")).json()).toMatchObject({ username: "corner-shop" })
  await sandbox.close()
  await expect(call(sandbox, "/me")).rejects.toThrow("fetch failed")
})
