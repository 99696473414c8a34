/** Worlds: sandboxes beside each other in one process, which share nothing. */
import { expect, it } from "@effect/vitest"
import { type CreatedWorld, Sandbox } from "@plaza/sandbox"
import { startSandbox } from "@plaza/sandbox/promise"
import { DateTime, Effect, Exit, Fiber, Layer, Redacted, Scope } from "effect"
import { TestClock } from "effect/testing"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync } from "node:fs"
import { get } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe } from "vitest"
import { layerInProcess, type Request, Transport } from "./support.ts"

const send = (method: "DELETE" | "GET" | "PATCH" | "POST", url: string, request: Request = {}) =>
  Effect.flatMap(Transport, (transport) => transport.send(method, url, request))

const control = Effect.map(Sandbox.Sandbox, ({ controlUrl }) => controlUrl)

/** Makes a world by the control API. */
const make = (options: unknown = {}) =>
  Effect.gen(function*() {
    const response = yield* send("POST", `${yield* control}/worlds`, { key: null, json: options })
    expect([response.status, response.text]).toEqual([200, expect.any(String)])
    return response.json as typeof CreatedWorld.Encoded
  })

const me = (world: { readonly baseUrl: string; readonly apiKey: string }) => send("GET", `${world.baseUrl}/me`, { key: world.apiKey })
const post = (world: { readonly baseUrl: string; readonly apiKey: string }, text: string) =>
  send("POST", `${world.baseUrl}/posts`, { key: world.apiKey, json: { text } })
const texts = (world: { readonly baseUrl: string; readonly apiKey: string }) =>
  Effect.map(send("GET", `${world.baseUrl}/me/posts`, { key: world.apiKey }), ({ json }) =>
    (json as { readonly data: ReadonlyArray<{ readonly text: string }> }).data.map(({ text }) => text))

describe("the control API", () => {
  it.effect("makes a world with addresses of its own, lists it without its key and removes it", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const world = yield* make()
      const origin = sandbox.webUrl.slice(0, -1)
      expect(world).toEqual({
        id: "w1",
        baseUrl: `${origin}/worlds/w1/open/v1`,
        controlUrl: `${origin}/worlds/w1/sandbox`,
        webUrl: `${origin}/worlds/w1/`,
        seed: 1,
        createdAt: "1970-01-01T00:00:00.000Z",
        apiKey: Redacted.value(sandbox.apiKey)
      })
      expect(yield* me(world)).toMatchObject({ status: 200, json: { username: "corner-shop" } })
      const named = yield* make({ id: "checkout-2", seed: 7 })
      expect(named).toMatchObject({ id: "checkout-2", seed: 7 })
      const { apiKey: _, ...listed } = world
      const { apiKey, ...alsoListed } = named
      expect((yield* send("GET", `${yield* control}/worlds`, { key: null })).json).toEqual({ data: [listed, alsoListed] })
      // A key of another seed is unknown here.
      expect((yield* me({ ...world, apiKey })).status).toBe(401)

      expect((yield* send("DELETE", `${yield* control}/worlds/w1`, { key: null })).status).toBe(204)
      expect(yield* me(world)).toMatchObject({
        status: 404,
        json: { error: { code: "NOT_FOUND", message: expect.stringContaining("w1") as unknown } }
      })
      expect((yield* send("DELETE", `${yield* control}/worlds/w1`, { key: null })).status).toBe(404)
      expect((yield* make()).id).toBe("w1")
    }).pipe(Effect.provide(layerInProcess())))

  it.effect.each([
    [{ id: "Upper" }, 400, "lower-case"],
    [{ id: "" }, 400, "lower-case"],
    [{ id: "main" }, 409, "the sandbox itself"],
    [{ id: "taken" }, 409, "already"],
    [{ seed: 1.5 }, 400, "seed"],
    [{ sed: 1 }, 400, "sed"],
    [{ assumptions: { nope: 1 } }, 400, "nope"],
    [{ fixtures: { products: [{ id: "P1", stock: -1 }] } }, 400, "stock"],
    [{ latitude: { keyPrefx: "k" } }, 400, "keyPrefx"],
    [{ freezeClock: "9999999-01-01" }, 400, "freezeClock"]
  ] as const)("refuses %j with a sentence that names the field", ([options, status, part]) =>
    Effect.gen(function*() {
      yield* make({ id: "taken" })
      const response = yield* send("POST", `${yield* control}/worlds`, { key: null, json: options })
      expect([response.status, response.text]).toEqual([status, expect.stringContaining(part)])
      expect((yield* (yield* Sandbox.Sandbox).worlds.list).map(({ id }) => id)).toEqual(["taken"])
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("of a world has no worlds, and says where they are", () =>
    Effect.gen(function*() {
      const world = yield* make()
      for (const [method, path] of [["POST", ""], ["GET", ""], ["DELETE", "/w1"]] as const) {
        const response = yield* send(method, `${world.controlUrl}/worlds${path}`, { key: null, ...(method === "POST" ? { json: {} } : {}) })
        expect([response.status, response.text]).toEqual([404, expect.stringContaining("/sandbox/worlds of the sandbox itself")])
      }
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("gives the documents of a world its addresses", () =>
    Effect.gen(function*() {
      const world = yield* make()
      const document = (yield* send("GET", `${world.controlUrl}/openapi.json`, { key: null })).json as { servers: Array<{ url: string }> }
      expect(document.servers[0]?.url).toBe(world.controlUrl.slice(0, -"/sandbox".length))
      expect((yield* send("GET", `${world.controlUrl}/postman.json`, { key: null })).text).toContain(world.baseUrl)
    }).pipe(Effect.provide(layerInProcess())))
})

describe("a world", () => {
  it.effect("shares no data, fault, log, limit or clock with another one or with the main sandbox", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const one = yield* sandbox.worlds.create()
      const other = yield* sandbox.worlds.create()
      const [first, second, main] = [one, other, sandbox].map(({ apiKey, baseUrl }) => ({ baseUrl, apiKey: Redacted.value(apiKey) }))
      if (first === undefined || second === undefined || main === undefined) throw new Error("no world")
      const before = yield* texts(main)
      yield* post(first, "of the first")
      expect((yield* texts(first)).slice(0, 2)).toEqual(["of the first", before[0]])
      expect([yield* texts(second), yield* texts(main)]).toEqual([before, before])

      yield* one.addFault({ kind: "status", when: "before", status: 503, path: "/me" })
      expect([(yield* me(second)).status, (yield* me(main)).status, (yield* me(first)).status]).toEqual([200, 200, 503])
      expect((yield* one.requests).map(({ path }) => path)).toEqual(["/posts", "/me/posts", "/me"])
      expect((yield* other.requests).map(({ path }) => path)).toEqual(["/me/posts", "/me"])

      yield* one.advanceClock("1 hour")
      expect([(yield* one.clock).aheadMillis, (yield* other.clock).aheadMillis, (yield* sandbox.clock).aheadMillis]).toEqual([
        3_600_000,
        0,
        0
      ])

      yield* Effect.repeat(me(first), { times: 119 })
      expect([(yield* me(first)).status, (yield* me(second)).status, (yield* me(main)).status]).toEqual([429, 200, 200])

      yield* one.setLatitude({ json: "indented" })
      expect((yield* me(second)).text).not.toContain("\n")
      yield* one.saveSnapshot("mine")
      expect((yield* other.snapshots).length + (yield* sandbox.snapshots).length).toBe(0)
      yield* sandbox.reset
      expect(yield* texts({ ...second, apiKey: Redacted.value(other.apiKey) })).toEqual(before)
      expect((yield* one.snapshots).map(({ name }) => name)).toEqual(["mine"])
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("is as the sandbox was started, except for its own options", () =>
    Effect.gen(function*() {
      const { worlds } = yield* Sandbox.Sandbox
      const same = yield* worlds.create()
      expect([same.seed, (yield* same.latitude).json, (yield* same.clock).frozen]).toEqual([5, "indented", false])
      expect((yield* same.state).products.map(({ id }) => id)).toContain("GIVEN")
      const other = yield* worlds.create({
        seed: 6,
        latitude: { json: "escaped" },
        freezeClock: DateTime.makeUnsafe("2030-01-01T00:00:00Z"),
        fixtures: { products: [{ id: "OWN", stock: 1 }] },
        assumptions: { requestsPerWindow: 2 }
      })
      expect([other.seed, (yield* other.latitude).json, (yield* other.clock).frozen]).toEqual([6, "escaped", true])
      expect((yield* other.state).products.map(({ id }) => id)).toContain("OWN")
      const calls = yield* Effect.replicateEffect(me({ baseUrl: other.baseUrl, apiKey: Redacted.value(other.apiKey) }), 3)
      expect(calls.map(({ status }) => status)).toEqual([200, 200, 429])
    }).pipe(
      Effect.provide(layerInProcess({ seed: 5, latitude: { json: "indented" }, fixtures: { products: [{ id: "GIVEN", stock: 3 }] } }))
    ))

  it.effect("has the time of the caller, also if the clock of the sandbox that makes it is ahead", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.advanceClock("1 hour")
      yield* TestClock.adjust("1 minute")
      const { controlUrl } = yield* make()
      const response = yield* send("GET", `${controlUrl}/clock`, { key: null })
      expect(response.json).toMatchObject({ now: "1970-01-01T00:01:00.000Z", aheadMillis: 0 })
      expect((yield* sandbox.clock).now).toEqual(DateTime.makeUnsafe("1970-01-01T01:01:00.000Z"))
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("was made at the time of the sandbox, which may be frozen, whether a program or a request makes it", () =>
    Effect.gen(function*() {
      const { worlds } = yield* Sandbox.Sandbox
      yield* TestClock.adjust("1 minute")
      yield* make()
      yield* worlds.create()
      expect((yield* worlds.list).map(({ createdAt }) => DateTime.formatIso(createdAt))).toEqual([
        "2026-01-01T00:00:00.000Z",
        "2026-01-01T00:00:00.000Z"
      ])
    }).pipe(Effect.provide(layerInProcess({ freezeClock: true }))))

  it.effect("closes the connections of its requests when it is removed, and keeps none of them", () =>
    Effect.gen(function*() {
      const { worlds } = yield* Sandbox.Sandbox
      const world = yield* worlds.create()
      yield* world.addFault({ kind: "delay", when: "before", millis: 60_000, path: "/me" })
      const waiting = yield* Effect.forkChild(Effect.exit(me({ baseUrl: world.baseUrl, apiKey: Redacted.value(world.apiKey) })))
      yield* Effect.repeat(Effect.yieldNow, { until: () => waiting.pollUnsafe() !== undefined, times: 100 })
      yield* worlds.remove(world.id)
      expect(Exit.isFailure(yield* Fiber.join(waiting))).toBe(true)
      expect(yield* worlds.list).toEqual([])
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("in code lasts as long as its scope", () =>
    Effect.gen(function*() {
      const { worlds } = yield* Sandbox.Sandbox
      const program = Effect.map(Sandbox.Sandbox, ({ baseUrl }) => baseUrl)
      const isolated = Effect.provide(program, Layer.effect(Sandbox.Sandbox, Sandbox.world()))
      expect(yield* isolated).toContain("/worlds/w1/open/v1")
      expect(yield* worlds.list).toEqual([])
      const scope = yield* Scope.make()
      const world = yield* Scope.provide(Sandbox.world({ id: "removed-early" }), scope)
      yield* worlds.remove(world.id)
      yield* Scope.close(scope, Exit.void)
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("fails with one sentence if its id is in use", () =>
    Effect.gen(function*() {
      const { worlds } = yield* Sandbox.Sandbox
      yield* worlds.create({ id: "a" })
      const failure = yield* Effect.flip(worlds.create({ id: "a" }))
      expect(failure).toMatchObject({
        _tag: "SandboxError",
        message: "there is a world \"a\" already: remove it first, or leave the id out"
      })
    }).pipe(Effect.provide(layerInProcess())))
})

describe("without Effect", () => {
  it("a test has a world of its own until its block ends", async () => {
    await using sandbox = await startSandbox()
    {
      await using world = await sandbox.worlds.create({ freezeClock: new Date("2030-01-01T00:00:00Z") })
      const headers = { authorization: `Bearer ${world.apiKey}` }
      const response = await world.fetch(`${world.baseUrl}/me`, { headers })
      expect([response.status, await response.json()]).toMatchObject([200, { username: "corner-shop" }])
      expect((await world.requests()).map(({ path }) => path)).toEqual(["/me"])
      expect(await sandbox.requests()).toEqual([])
      expect((await world.clock()).now).toEqual(new Date("2030-01-01T00:00:00Z"))
      expect(await sandbox.worlds.list()).toMatchObject([{ id: world.id, createdAt: expect.any(Date) as unknown }])
    }
    expect(await sandbox.worlds.list()).toEqual([])
    await expect(sandbox.worlds.create({ id: "Not Valid" })).rejects.toMatchObject({ _tag: "SandboxError" })
    await expect(sandbox.worlds.remove("w9")).rejects.toMatchObject({ _tag: "NotFound" })
  })
})

/** The status of a request with another Host, which fetch does not send. */
const statusFor = (url: string, host: string) =>
  new Promise<number | undefined>((resolve, reject) => {
    get(url, { headers: { host } }, (response) => resolve(response.resume().statusCode)).on("error", reject)
  })

describe("many tests in one process", () => {
  // Eight workers, each with 25 tests after one another.
  it("have a world each, and see nothing of each other", { timeout: 60_000 }, async () => {
    await using sandbox = await startSandbox({ port: 0 })
    const authorized = (key: string) => ({ authorization: `Bearer ${key}`, "content-type": "application/json" })
    const test = async (name: string) => {
      const made = await fetch(`${sandbox.controlUrl}/worlds`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ id: name, assumptions: { requestsPerWindow: 4 } })
      })
      const world = await made.json() as typeof CreatedWorld.Encoded
      const call = async (path: string, init: RequestInit = {}, key = world.apiKey) => {
        const response = await fetch(`${world.baseUrl}${path}`, { headers: authorized(key), ...init })
        return { status: response.status, json: await response.json().catch(() => undefined) as unknown }
      }
      const refused = await call("/me", {}, "unknown")
      const created = await call("/posts", { method: "POST", body: JSON.stringify({ text: name }) })
      const listed = await call("/me/posts")
      const limited = await Promise.all([call("/me"), call("/me"), call("/me")])
      const log = await (await fetch(`${world.controlUrl}/requests?limit=50`)).json() as { readonly data: ReadonlyArray<unknown> }
      const foreign = await statusFor(`${world.baseUrl}/me`, "evil.example")
      await fetch(`${sandbox.controlUrl}/worlds/${name}`, { method: "DELETE" })
      const gone = await call("/me")
      return {
        refused: refused.status,
        created: created.status,
        texts: (listed.json as { readonly data: ReadonlyArray<{ readonly text: string }> }).data.map(({ text }) => text)
          .filter((text) => text.startsWith("test-")),
        limited: limited.map(({ status }) => status).toSorted((one, other) => one - other),
        logged: log.data.length,
        foreign,
        gone: gone.status
      }
    }
    const workers = Array.from({ length: 8 }, async (_, worker) => {
      const results: Array<[string, Awaited<ReturnType<typeof test>>]> = []
      for (let n = 0; n < 25; n++) results.push([`test-${worker}-${n}`, await test(`test-${worker}-${n}`)])
      return results
    })
    for (const [name, result] of (await Promise.all(workers)).flat()) {
      expect([name, result]).toEqual([name, {
        refused: 401,
        created: 200,
        texts: [name],
        limited: [200, 200, 429],
        logged: 6,
        foreign: 403,
        gone: 404
      }])
    }
    expect(await sandbox.worlds.list()).toEqual([])
    expect(await sandbox.requests()).toEqual([])
  })
})

describe("with a data file", () => {
  const inFolder = async (use: (data: string) => Promise<void>) => {
    const folder = mkdtempSync(join(tmpdir(), "plaza-worlds-"))
    try {
      await use(join(folder, "shop.db"))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }

  it("worlds are there again after a restart, with their data and their options, and a removed one leaves nothing", async () => {
    await inFolder(async (data) => {
      let made: Awaited<ReturnType<Awaited<ReturnType<typeof startSandbox>>["worlds"]["list"]>> = []
      {
        await using sandbox = await startSandbox({ data })
        const world = await sandbox.worlds.create({ id: "kept", latitude: { json: "indented" }, seed: 3 })
        await world.createPost({ text: "kept" })
        const headers = { authorization: `Bearer ${world.apiKey}` }
        const form = new FormData()
        form.append("file", new File(["cup"], "cup.png", { type: "image/png" }))
        expect((await world.fetch(`${world.baseUrl}/media`, { method: "POST", headers, body: form })).status).toBe(200)
        await sandbox.worlds.create({ id: "again" })
        made = await sandbox.worlds.list()
        await sandbox.worlds.create({ id: "removed" })
        await sandbox.worlds.remove("removed")
      }
      {
        await using sandbox = await startSandbox({ data })
        const origin = (url: string) => new URL(url).pathname
        const described = (worlds: typeof made) => worlds.map(({ baseUrl, createdAt, id, seed }) => [id, seed, createdAt, origin(baseUrl)])
        expect(described(await sandbox.worlds.list())).toEqual(described(made))
        expect(made.map(({ id }) => id)).toEqual(["kept", "again"])
        const again = await sandbox.worlds.create()
        expect(again.id).toBe("w1")
        await sandbox.worlds.remove("w1")
        await sandbox.worlds.remove("kept")
        await sandbox.worlds.remove("again")
        expect(readdirSync(`${data}-worlds`)).toEqual([])
      }
      expect(existsSync(data)).toBe(true)
    })
  })

  it("a world whose files can't be deleted says so over HTTP and on its page, and can be removed again", async () => {
    await inFolder(async (data) => {
      await using sandbox = await startSandbox({ data })
      await sandbox.worlds.create({ id: "kept" })
      const folder = `${data}-worlds`
      // A folder in place of a file: the file system refuses to delete it, whoever asks.
      rmSync(join(folder, "kept.json"))
      mkdirSync(join(folder, "kept.json"))
      const removal = () => sandbox.fetch(`${sandbox.controlUrl}/worlds/kept`, { method: "DELETE" })
      const refused = await removal()
      expect([refused.status, await refused.json()]).toMatchObject([500, {
        error: {
          code: "INTERNAL_ERROR",
          message: `the world "kept" has ended, but its files in ${folder} can't be deleted: check their permissions, then remove it again`
        }
      }])
      expect(await sandbox.worlds.list()).toEqual([])
      await expect(sandbox.worlds.create({ id: "kept" })).rejects.toMatchObject({
        message: expect.stringContaining("remove it first") as unknown
      })
      const form = new URLSearchParams({ do: "remove", id: "kept", confirmed: "yes" })
      const page = await sandbox.fetch(`${sandbox.webUrl}console/worlds`, { method: "POST", body: form })
      expect([page.status, await page.text()]).toEqual([
        500,
        expect.stringMatching(/can&#39;t be deleted[^]*aria-label="Remove again kept"/)
      ])
      await expect(sandbox.worlds.remove("kept")).rejects.toMatchObject({ _tag: "SandboxError" })
      rmdirSync(join(folder, "kept.json"))
      expect((await removal()).status).toBe(204)
      expect((await removal()).status).toBe(404)
      expect(readdirSync(folder)).toEqual([])
      expect((await sandbox.worlds.create({ id: "kept" })).id).toBe("kept")
    })
  })

  it("a world whose options can't be used is refused, and leaves nothing", async () => {
    await inFolder(async (data) => {
      await using sandbox = await startSandbox({ data })
      await expect(sandbox.worlds.create({ id: "bad", fixtures: { posts: [{ text: "", accountId: "nobody" }] } })).rejects.toMatchObject({
        _tag: "SandboxError"
      })
      expect(readdirSync(`${data}-worlds`)).toEqual([])
      expect((await sandbox.worlds.create({ id: "bad" })).id).toBe("bad")
    })
  })
})
