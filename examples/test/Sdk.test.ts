/** The programs of docs/sdk.md against the sandbox. */
import { type Options as SandboxOptions, startSandbox } from "@plaza/sandbox/promise"
import { createPlaza, isPlazaError, type Options } from "@plaza/sdk"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterEach, describe, expect, it, vi } from "vitest"
import { failsAfterCommit } from "../src/SandboxPromise.ts"
import { setStockOnce, setStockPatiently } from "../src/SdkCalls.ts"
import { explain } from "../src/SdkErrors.ts"
import { hasPosted, readFrom } from "../src/SdkLists.ts"
import { orderOf, unshipped } from "../src/SdkUndocumented.ts"
import { uploadAll } from "../src/SdkUploads.ts"

afterEach(() => {
  vi.useRealTimers()
})

const start = async (options: Partial<Options> = {}, sandboxOptions: SandboxOptions = {}) => {
  const sandbox = await startSandbox(sandboxOptions)
  const { apiKey, baseUrl, fetch } = sandbox
  return { sandbox, plaza: createPlaza({ apiKey, baseUrl, fetch, ...options }) }
}

const busy: SandboxOptions = { assumptions: { requestsPerWindow: 1_000 } }

const failureOf = async (call: Promise<unknown>) => {
  const error = await call.then(() => undefined, (error: unknown) => error)
  if (!isPlazaError(error)) throw new Error("it did not fail", { cause: error })
  return error
}

describe("a call", () => {
  it("has one attempt without retries, and ends by its signal", async () => {
    const { plaza, sandbox } = await start()
    expect(await setStockOnce(plaza, 3, new AbortController().signal)).toMatchObject({ stock: 3 })
    await sandbox.addFault({ kind: "status", when: "before", status: 503 })
    expect(await failureOf(setStockOnce(plaza, 4, new AbortController().signal))).toMatchObject({ status: 503, attempts: 1 })
    const reason = new Error("enough")
    await expect(setStockOnce(plaza, 4, AbortSignal.abort(reason))).rejects.toBe(reason)
  })

  it("reports each failed attempt", async () => {
    vi.useFakeTimers()
    const { plaza, sandbox } = await start()
    await sandbox.addFault({ kind: "status", when: "before", status: 500, times: 4 })
    const entries: Array<object> = []
    const failed = failureOf(setStockPatiently(plaza, 3, (entry) => entries.push(entry)))
    await vi.advanceTimersByTimeAsync(20_000)
    expect(await failed).toMatchObject({ _tag: "InternalError", attempts: 4 })
    const failure = { operation: "setStock", failure: "InternalError" }
    expect(entries).toMatchObject([{ ...failure, number: 1 }, { ...failure, number: 2 }, { ...failure, number: 3 }, {
      ...failure,
      number: 4
    }])
  })
})

describe("a list", () => {
  it("ends as soon as the loop does", async () => {
    const { plaza, sandbox } = await start({}, busy)
    expect(await hasPosted(plaza, "no such text")).toBe(false)
    const before = await sandbox.countRequests()
    await plaza.posts.create({ text: "Fresh tea today." })
    expect(await hasPosted(plaza, "Fresh tea today.")).toBe(true)
    // The post, the first page, and no more than one ahead.
    expect(await sandbox.countRequests() - before).toBeLessThanOrEqual(3)
  })

  it("continues after a cursor", async () => {
    const { plaza } = await start({}, busy)
    const pages: Array<readonly [number, string | null]> = []
    await readFrom(plaza, undefined, (posts, next) => Promise.resolve(void pages.push([posts.length, next])))
    expect(pages.at(-1)?.[1]).toBeNull()
    let cursor: string | undefined
    for await (const { nextCursor } of plaza.posts.pages({ pageSize: 10, limit: 10 })) cursor = nextCursor ?? undefined
    expect(cursor).toBeDefined()
    const rest: Array<number> = []
    await readFrom(plaza, cursor, (posts) => Promise.resolve(void rest.push(posts.length)))
    expect(rest.reduce((sum, count) => sum + count, 0)).toBe(pages.reduce((sum, [count]) => sum + count, 0) - 10)
  })
})

it("an upload takes a path, a Blob, bytes and streams", async () => {
  const folder = mkdtempSync(join(tmpdir(), "plaza-sdk-"))
  const path = join(folder, "mug.jpg")
  writeFileSync(path, "a picture")
  const { plaza, sandbox } = await start()
  const ids = await uploadAll(plaza, path, new Blob(["a picture"], { type: "image/jpeg" }))
  const { media } = await sandbox.state()
  expect(media.filter(({ id }) => ids.includes(id)).map(({ contentType, name, size }) => [name, size, contentType])).toEqual(
    ids.map(() => ["mug.jpg", 9, "image/jpeg"])
  )
  rmSync(folder, { recursive: true })
})

it("an undocumented list and an undocumented resource are parsed", async () => {
  const { plaza, sandbox } = await start({}, busy)
  const before = await unshipped(plaza)
  await plaza.store.ship("SO/2026/26", { carrier: "DHL", trackingNumber: "JD01" })
  expect(await unshipped(plaza)).toEqual(before.filter((id) => id !== "SO/2026/26"))
  expect(await orderOf(plaza, "SO/2026/26")).toEqual({ id: "SO/2026/26", trackingNumber: "JD01" })
  await sandbox.addFault({ kind: "status", when: "before", status: 200, body: "{}", times: 9 })
  expect(await failureOf(plaza.request({
    method: "GET",
    path: "/store/orders/1",
    retry: false,
    parse: () => {
      throw new Error("it is no order")
    }
  })))
    .toMatchObject({ category: "ServiceFault" })
})

it("a failed shipment has an explanation", async () => {
  const { plaza, sandbox } = await start({ retry: { delay: 1 } })
  const ship = async (id: string) => {
    try {
      return await plaza.store.ship(id, { carrier: "DHL", trackingNumber: "JD01" })
    } catch (error) {
      // True because `Failures` has every error that the operation rejects with.
      if (isPlazaError(error)) return explain(error as Parameters<typeof explain>[0])
      throw error
    }
  }
  const fault = { kind: "status", when: "after", status: 503, path: "/store/orders/*/ship" } as const
  await sandbox.addFault(fault)
  expect(await ship("500001")).toBe("It is shipped. Compare the tracking number.")
  expect(await ship("500001")).toBe("It was shipped before.")
  await sandbox.addFault({ ...fault, times: 5 })
  expect(await ship("500002")).toBe("It may be shipped. Look at the order before you ship it again.")
  expect(await ship("NONE")).toMatch(/^It is not shipped: /)
})

it("a sandbox responds to requests of any program", async () => {
  expect(await failsAfterCommit()).toEqual({ status: 500, newest: "hello" })
})

it("the first program runs as a process, and ends by itself", async () => {
  const sandbox = await startSandbox({ port: 0 })
  const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=@plaza/source", "examples/src/SdkQuickstart.ts"], {
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    env: { ...process.env, PLAZA_BASE_URL: sandbox.baseUrl, PLAZA_API_KEY: sandbox.apiKey }
  })
  expect(stdout).toBe("MUG-BLUE-350: 12, The blue mugs are back.\n")
  await sandbox.close()
})
