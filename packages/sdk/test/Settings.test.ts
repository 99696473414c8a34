/** The options of a client: values, variables, and what is refused. */
import { createPlaza, InvalidSettings, type Options } from "@plaza/sdk"
import { readFileSync } from "node:fs"
import { afterEach, describe, expect, it, vi } from "vitest"
import { createPlaza as createOnFetch } from "../src/index.ts"
import { failureOf } from "./support/Outcome.ts"

const key = "k".repeat(50)
const baseUrl = "http://127.0.0.1/open/v1"

afterEach(() => {
  vi.unstubAllEnvs()
})

/** What a function throws. */
const thrown = (create: () => unknown): unknown => {
  try {
    return create()
  } catch (error) {
    return error
  }
}

/** The requests that a client sends for one call: url, headers. */
const requestOf = async (create: (fetch: typeof globalThis.fetch) => ReturnType<typeof createPlaza>) => {
  const requests: Array<Request> = []
  const plaza = create((input, init) => {
    requests.push(new Request(input, init))
    return Promise.resolve(Response.json({ id: "1", username: "ana" }))
  })
  expect(await plaza.profiles.me()).toEqual({ id: "1", username: "ana" })
  const [request] = requests
  if (request === undefined) throw new Error("no request was sent")
  return request
}

it("a request has the base URL, the key and the name of the application", async () => {
  const request = await requestOf((fetch) => createPlaza({ baseUrl: `${baseUrl}/`, apiKey: key, fetch, application: "stock-robot/1.2" }))
  expect(request.url).toBe(`${baseUrl}/me`)
  expect(request.headers.get("authorization")).toBe(`Bearer ${key}`)
  expect(request.headers.get("user-agent")).toMatch(/^stock-robot\/1\.2 plaza-client\//)
  expect(request.headers.get("traceparent")).toBeNull()
})

it("a key and an address come from the environment, and options override its other variables", async () => {
  vi.stubEnv("PLAZA_BASE_URL", baseUrl)
  vi.stubEnv("PLAZA_API_KEY", key)
  vi.stubEnv("PLAZA_RATE_LIMIT", "3")
  const request = await requestOf((fetch) => createPlaza.fromEnv({ fetch }))
  expect([request.url, request.headers.get("authorization")]).toEqual([`${baseUrl}/me`, `Bearer ${key}`])
  expect((await createPlaza.fromEnv().rateLimit.status()).free).toBe(3)
  expect((await createPlaza.fromEnv({ rateLimit: 5 }).rateLimit.status()).free).toBe(5)
  expect((await createPlaza.fromEnv({ rateLimit: undefined }).rateLimit.status()).free).toBe(3)
})

describe("an error names", () => {
  for (
    const [name, text, message] of [
      ["PLAZA_BASE_URL", " ", /^PLAZA_BASE_URL is not set$/],
      ["PLAZA_BASE_URL", "ftp://host/open/v1", /^PLAZA_BASE_URL must /],
      ["PLAZA_API_KEY", "", /^PLAZA_API_KEY is not set$/],
      ["PLAZA_API_KEY", "with space", /^PLAZA_API_KEY is not a key/],
      ["PLAZA_TIMEOUT", "soon", /^PLAZA_TIMEOUT must be a duration above zero, such as 30s/],
      ["PLAZA_RATE_LIMIT", "0", /^PLAZA_RATE_LIMIT must be a whole number/],
      ["PLAZA_RATE_WINDOW", "-1s", /^PLAZA_RATE_WINDOW must be a duration/]
    ] as const
  ) {
    it(`the variable ${name}: "${text}"`, () => {
      vi.stubEnv("PLAZA_BASE_URL", baseUrl)
      vi.stubEnv("PLAZA_API_KEY", key)
      vi.stubEnv(name, text)
      const error = thrown(() => createPlaza.fromEnv())
      expect(error).toBeInstanceOf(InvalidSettings)
      expect(error).toMatchObject({ setting: name, message: expect.stringMatching(message) as unknown, mayHaveHappened: false })
    })
  }

  it("a proxy variable", () => {
    vi.stubEnv("HTTPS_PROXY", "ftp://proxy")
    expect(thrown(() => createPlaza({ baseUrl, apiKey: key }))).toMatchObject({
      setting: "HTTPS_PROXY",
      message: expect.stringMatching(/^HTTPS_PROXY must /) as unknown
    })
    // It is not read where requests do not go by the HTTP of Node.
    expect(thrown(() => createPlaza({ baseUrl, apiKey: key, fetch: globalThis.fetch }))).toHaveProperty("profiles")
  })

  const wrong: ReadonlyArray<readonly [string, unknown, RegExp]> = [
    ["baseUrl", undefined, /^baseUrl must be/],
    ["baseUrl", "http://example.com/open/v1", /^baseUrl /],
    ["apiKey", undefined, /^apiKey must be a text$/],
    ["apiKey", "line\nend", /^apiKey is not a key/],
    ["timeout", "soon", /^timeout must be a finite duration above zero/],
    ["timeout", 0, /^timeout must be a finite duration above zero/],
    ["maxWait", Number.NaN, /^maxWait must be a finite duration/],
    ["settleTime", "-1s", /^settleTime must be a finite duration/],
    ["rateWindow", {}, /^rateWindow must be a finite duration/],
    ["rateLimit", 1.5, /^rateLimit must be a whole number/],
    ["retry", "often", /^retry must be false or an object/],
    ["retry.within", { within: "long" }, /^retry.within must be a finite duration/],
    ["retryBudget", 1, /^retryBudget must be true or false$/],
    ["onAttempt", {}, /^onAttempt must be a function$/],
    ["logger", console, /^logger must be a function$/],
    ["application", "a\nb", /^application must be a name and a version/],
    ["application", 5, /^application must be a text$/],
    ["fetch", "node-fetch", /^fetch must be a function$/],
    ["proxy", "ftp://proxy", /^proxy must /],
    ["ca", "no certificate", /^ca must be one or more texts with certificates in PEM/],
    ["keepAlive", "0s", /^keepAlive must be a finite duration above zero/],
    ["connectTimeout", "never", /^connectTimeout must be a finite duration above zero/]
  ]
  for (const [setting, value, message] of wrong) {
    it(`the option ${setting}: ${JSON.stringify(value) ?? "undefined"}`, () => {
      const [name = setting] = setting.split(".")
      // Not of this type: code without types can pass anything.
      const options = { baseUrl, apiKey: key, [name]: value } as unknown as Options
      const error = thrown(() => createPlaza(options))
      expect(error).toBeInstanceOf(InvalidSettings)
      expect(error).toMatchObject({ setting, message: expect.stringMatching(message) as unknown })
      expect(String(error)).not.toContain(key)
    })
  }

  it("options that are no object", () => {
    for (const options of [undefined, null, "https://host/open/v1"]) {
      // Not of this type, for the same reason.
      expect(thrown(() => createPlaza(options as unknown as Options))).toMatchObject({ _tag: "InvalidSettings", setting: "options" })
    }
  })
})

describe("a name that is no option", () => {
  const declarations = readFileSync(new URL("../index.d.ts", import.meta.url), "utf8")
  const namesIn = (type: string) =>
    [...(new RegExp(`^export interface ${type}(?:<A>)? \\{\\n([^]*?)^\\}`, "m").exec(declarations)?.[1] ?? "").matchAll(
      /^  readonly (\w+)/gm
    )]
      .map(([, name = ""]) => name)
  // Not of the types: code without types can pass anything.
  const typo: object = { timout: "5s" }
  const listed = (message: string) => message.replace(/^.* the options are /, "").split(", ").toSorted()

  it("is refused by createPlaza, which lists those of the type", () => {
    const error = thrown(() => createPlaza({ baseUrl, apiKey: key, ...typo }))
    expect(error).toMatchObject({
      _tag: "InvalidSettings",
      setting: "timout",
      message: expect.stringMatching(/^timout is no option;/) as unknown
    })
    expect(listed(String(error))).toEqual(namesIn("Options").toSorted())
    expect(namesIn("Options")).toContain("timeout")
  })

  it("is refused by calls, which list those of all kinds of calls", async () => {
    const plaza = createPlaza({ baseUrl, apiKey: key, fetch: () => Promise.reject(new Error("no request is expected")) })
    const error = await failureOf(plaza.profiles.me(typo))
    expect(error).toMatchObject({ _tag: "InvalidInput", field: "timout" })
    const kinds = ["CallOptions", "ListOptions", "UploadOptions", "OpenRequest", "OpenList"]
    expect(listed(error.message)).toEqual([...new Set(kinds.flatMap(namesIn))].toSorted())
  })
})

it("the key and the address of fromEnv are those of the environment, and options for them are refused", () => {
  vi.stubEnv("PLAZA_BASE_URL", baseUrl)
  vi.stubEnv("PLAZA_API_KEY", key)
  for (const other of [{ apiKey: key }, { baseUrl }]) {
    const [setting] = Object.keys(other)
    expect(thrown(() => createPlaza.fromEnv(other as object))).toMatchObject({ _tag: "InvalidSettings", setting })
  }
})

it("a name that is no option of retry is refused", () => {
  const retry: object = { time: 3 }
  expect(thrown(() => createPlaza({ baseUrl, apiKey: key, retry }))).toMatchObject({ setting: "retry.time" })
})

it("a logger that throws changes no call", async () => {
  const error = { error: { code: "RATE_LIMITED", message: "enough" } }
  const plaza = createPlaza({
    baseUrl,
    apiKey: key,
    fetch: () => Promise.resolve(Response.json(error, { status: 429, headers: { "retry-after": "7200" } })),
    logger: () => {
      throw new Error("the log is full")
    }
  })
  expect(await failureOf(plaza.profiles.me())).toMatchObject({ _tag: "RateLimited" })
})

it("the options of the HTTP of Node are refused where requests go by fetch", () => {
  for (const option of [{ proxy: false }, { ca: "x" }, { keepAlive: "1s" }, { connectTimeout: 5 }] as const) {
    const [setting] = Object.keys(option)
    const expected = { setting, message: `${setting} needs the HTTP of Node, but requests go by fetch` }
    expect(thrown(() => createOnFetch({ baseUrl, apiKey: key, ...option }))).toMatchObject(expected)
    expect(thrown(() => createPlaza({ baseUrl, apiKey: key, fetch: globalThis.fetch, ...option }))).toMatchObject(expected)
  }
})

it("warnings go to standard error by default, and nothing to standard output", async () => {
  const printed = vi.spyOn(console, "error").mockImplementation(() => {})
  const log = vi.spyOn(console, "log").mockImplementation(() => {})
  const error = { error: { code: "RATE_LIMITED", message: "enough" } }
  const fetch = () => Promise.resolve(Response.json(error, { status: 429, headers: { "retry-after": "7200" } }))
  const plaza = createPlaza({ baseUrl, apiKey: key, fetch })
  await expect(plaza.profiles.me()).rejects.toMatchObject({ _tag: "RateLimited", retryAfter: 7_200_000 })
  expect(printed.mock.calls).toEqual([[`plaza: rate_limit.operation_paused {"seconds":7200,"operation":"getMe"}`]])
  expect(log).not.toHaveBeenCalled()
  vi.restoreAllMocks()
})
