/**
 * The pages without a browser: accepted callers, headers and refusals; and the value of a key appears in one
 * response and nowhere else.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { Fault, Sandbox } from "@plaza/sandbox"
import { Effect, FastCheck, Redacted } from "effect"
import { request as open } from "node:http"
import { openApi } from "../src/OpenApiDocument.js"
import { html } from "../src/web/Html.js"
import { call, control, layerInProcess, layerSocket, refusal } from "./support.js"
import { as, request, submit } from "./WebPages.js"

const pages = [
  "/",
  "/sign-in",
  "/settings/developers",
  "/operator",
  "/console",
  "/reference",
  "/openapi.json",
  "/assets/plaza.css",
  "/assets/plaza.js",
  "/assets/icon.svg"
]

const form = { do: "request", useCase: "Keeps stock.", website: "", botName: "Bot" }
const developers = "/settings/developers"

layer(layerInProcess())("every page", (it) => {
  it.effect("is not cached, can't be framed and runs no foreign script", () =>
    Effect.gen(function*() {
      for (const path of pages) {
        const { headers, status } = yield* request("GET", path, as("1001"))
        assert.strictEqual(status, 200, path)
        assert.strictEqual(headers["cache-control"], "no-store", path)
        assert.strictEqual(headers["x-content-type-options"], "nosniff", path)
        const policy = headers["content-security-policy"] ?? ""
        assert.include(policy, "default-src 'none'", path)
        assert.include(policy, "frame-ancestors 'none'", path)
        assert.notInclude(policy, "unsafe", path)
      }
    }))

  it.effect("responds to HEAD, and refuses other methods", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* request("HEAD", "/operator")).status, 200)
      const put = yield* request("PUT", "/operator")
      assert.deepStrictEqual([put.status, put.headers["allow"]], [405, "GET, POST"])
      const post = yield* submit("/reference", {})
      assert.deepStrictEqual([post.status, post.headers["allow"]], [405, "GET"])
    }))

  it.effect("leaves every other path to the interface", () =>
    Effect.gen(function*() {
      for (const path of ["/nowhere", "/operator/", "/settings", "/assets/"]) {
        assert.strictEqual(refusal(yield* request("GET", path)), "404 NOT_FOUND", path)
      }
    }))

  it.effect("is not logged or counted as a request of the interface", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* request("GET", "/console")
      assert.deepStrictEqual((yield* sandbox.requests).filter(({ path }) => path === "/console"), [])
    }))

  it.effect("shows only known success messages", () =>
    Effect.gen(function*() {
      for (const [word, told] of [["approve", true], ["constructor", false], ["<b>", false]] as const) {
        const { text } = yield* request("GET", `/operator?done=${encodeURIComponent(word)}`)
        assert.strictEqual(text.includes(`role="status"`), told, word)
        assert.notInclude(text, "<b>")
      }
    }))
})

layer(layerInProcess())("a form", (it) => {
  it.effect("is accepted from the sandbox's own pages and from programs, and from no other page", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const host = new URL(sandbox.webUrl).host
      const { id } = yield* sandbox.createAccount({ access: "none" })
      for (
        const foreign of [
          { origin: "http://evil.example" },
          { origin: "null" },
          { origin: `http://${host}:81` },
          { origin: `http://${host}`, "sec-fetch-site": "cross-site" },
          { "sec-fetch-site": "same-site" },
          { "sec-fetch-site": "none" }
        ]
      ) {
        for (const path of [developers, "/operator", "/console", "/sign-in"]) {
          assert.strictEqual((yield* submit(path, form, { ...as(id), ...foreign })).status, 403, JSON.stringify(foreign))
        }
      }
      const own = { origin: `http://${host}`, "sec-fetch-site": "same-origin" }
      assert.strictEqual((yield* submit(developers, form, { ...as(id), ...own })).status, 303)
      const other = yield* sandbox.createAccount({ access: "none" })
      assert.strictEqual((yield* submit(developers, form, as(other.id))).status, 303)
    }))

  it.effect("must be a form, have an action and be small", () =>
    Effect.gen(function*() {
      const json = yield* request("POST", "/operator", { "content-type": "application/json" }, "{}")
      assert.strictEqual(json.status, 400)
      for (const action of ["", "constructor", "burn"]) {
        assert.strictEqual((yield* submit("/operator", { do: action })).status, 400, action)
      }
      assert.strictEqual((yield* submit("/operator", { do: "x".repeat(1024 * 1024) })).status, 413)
    }))
})

layer(layerInProcess())("signing in", (it) => {
  it.effect("is required for the Developers page, also after the account was deleted", () =>
    Effect.gen(function*() {
      for (const headers of [{}, as("nobody"), { cookie: "plaza_account=%zz" }]) {
        const reply = yield* request("GET", developers, headers)
        assert.deepStrictEqual([reply.status, reply.headers["location"]], [303, "/sign-in"])
      }
    }))

  it.effect("is stored in a cookie that is hidden from scripts and other sites, whatever the id", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const id = "a;b=c %/é"
      yield* sandbox.createAccount({ id, username: "awkward" })
      const reply = yield* submit("/sign-in", { do: "choose", known: " awkward " })
      assert.deepStrictEqual([reply.status, reply.headers["location"]], [303, developers])
      const [pair = "", ...attributes] = (reply.headers["set-cookie"] ?? "").split("; ")
      assert.sameMembers(attributes, ["Path=/", "HttpOnly", "SameSite=Strict"])
      assert.include((yield* request("GET", developers, { cookie: pair })).text, "<strong>awkward</strong>")
    }))

  it.effect("creates an account without access, and refuses an existing one", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      assert.strictEqual((yield* submit("/sign-in", { do: "create", username: "newcomer", profile: "photo" })).status, 303)
      const made = (yield* sandbox.state).accounts.find(({ username }) => username === "newcomer")
      assert.deepInclude(made, { access: "none", photo: true, cover: false })
      const again = yield* submit("/sign-in", { do: "create", username: "newcomer" })
      assert.strictEqual(again.status, 409)
      assert.include(again.text, `value="newcomer"`)
      assert.strictEqual((yield* submit("/sign-in", { do: "create", username: "" })).status, 400)
      assert.strictEqual((yield* submit("/sign-in", { do: "choose", known: "nobody" })).status, 400)
    }))
})

layer(layerInProcess())("the Developers page", (it) => {
  it.effect("shows the refused field by its name, and keeps the input", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { id } = yield* sandbox.createAccount({ access: "none" })
      for (
        const [change, said] of [
          [{ useCase: " " }, "Use case must not be empty"],
          [{ botName: "" }, "Bot name must not be empty"],
          [{ website: "ftp://shop.example" }, "Website must start with http:// or https://"]
        ] as const
      ) {
        const reply = yield* submit(developers, { ...form, useCase: "Kept input", ...change }, as(id))
        assert.strictEqual(reply.status, 400)
        assert.include(reply.text, said)
        assert.include(reply.text, `aria-invalid="true"`)
        assert.include(reply.text, "useCase" in change ? "Bot" : "Kept input")
      }
      assert.strictEqual((yield* submit(developers, form, as(id))).headers["location"], `${developers}?done=requested`)
      assert.strictEqual((yield* submit(developers, form, as(id))).status, 409)
    }))

  it.effect("offers keys only once access is granted, and revoking at any time", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { id } = yield* sandbox.createAccount({ access: "none" })
      const key = { do: "create", name: "k", scopes: "posts:write" }
      assert.notInclude((yield* request("GET", developers, as(id))).text, "Create a key")
      assert.strictEqual((yield* submit(developers, key, as(id))).status, 409)
      yield* sandbox.setAccess(id, "grant")
      assert.include((yield* request("GET", developers, as(id))).text, "Create a key")
      assert.strictEqual((yield* submit(developers, { ...key, scopes: "posts:burn" }, as(id))).status, 400)
      assert.strictEqual((yield* submit(developers, { do: "create", name: "k" }, as(id))).status, 400)
      assert.strictEqual((yield* submit(developers, key, as(id))).status, 200)
      yield* sandbox.setAccess(id, "suspend")
      assert.notInclude((yield* request("GET", developers, as(id))).text, "Create a key")
      const made = (yield* sandbox.state).keys.find(({ accountId }) => accountId === id)
      assert.deepInclude(made, { name: "k", scopes: ["posts:write"] })
      const revoked = yield* submit(developers, { do: "revoke", key: made?.id ?? "" }, as(id))
      assert.strictEqual(revoked.headers["location"], `${developers}?done=revoked`)
      assert.deepInclude((yield* sandbox.state).keys.find(({ accountId }) => accountId === id), { state: "revoked" })
    }))

  it.effect("shows the calls that each scope allows", () =>
    Effect.gen(function*() {
      const { text } = yield* request("GET", developers, as("1001"))
      assert.include(text, `posts:read <span class="soft">GET /me/posts, GET /posts/{id}</span>`)
      const documented = yield* Effect.provide(request("GET", developers, as("1001")), layerInProcess({ assumptions: false }))
      assert.include(documented.text, `posts:read <span class="soft">GET /me/posts</span>`)
      assert.strictEqual(documented.text.split(`name="scopes"`).length - 1, 13)
    }))

  it.effect("allows five active keys, and no account can revoke another's key", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { id } = yield* sandbox.createAccount()
      yield* Effect.replicateEffect(sandbox.createKey(id), 5)
      assert.include((yield* request("GET", developers, as(id))).text, "5 of at most 5 keys are active")
      assert.strictEqual((yield* submit(developers, { do: "create", name: "k", scopes: "posts:write" }, as(id))).status, 409)
      assert.strictEqual((yield* submit(developers, { do: "revoke", key: "k1" }, as(id))).status, 404)
      assert.strictEqual((yield* call("GET", "/me")).status, 200)
    }))

  it.effect("shows the value of a key in one response and nowhere else", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { id } = yield* sandbox.createAccount()
      const made = yield* submit(developers, [["do", "create"], ["name", "once"], ["scopes", "posts:write"], ["scopes", "profile:read"]],
        as(id))
      const value = /key_[A-Za-z0-9]{40}/.exec(made.text)?.[0] ?? assert.fail("no key is shown")
      assert.strictEqual((yield* call("GET", "/me", { key: value })).status, 200)
      assert.notInclude(JSON.stringify(made.headers), value)
      const secret = value.slice(4, -4)
      for (const path of pages) {
        assert.notInclude((yield* request("GET", path, as(id))).text, secret, path)
      }
      assert.notInclude((yield* control("GET", "/state")).text + (yield* control("GET", "/requests")).text, secret)
      const ready = Redacted.value(sandbox.apiKey)
      assert.notInclude((yield* request("GET", developers, as("1001"))).text, ready.slice(4, -4))
    }))
})

layer(layerInProcess())("the operator's page", (it) => {
  it.effect("decides once, and changes access as the interface says", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { id } = yield* sandbox.createAccount({ access: "none", username: "applicant" })
      const { id: requestId } = yield* sandbox.requestAccess(id, { useCase: "u", botName: "The applicant's bot" })
      assert.include((yield* request("GET", "/operator")).text, "The applicant&#39;s bot")
      const decide = (decision: string) => submit("/operator", { do: "decide", request: requestId, decision })
      assert.strictEqual((yield* decide("burn")).status, 400)
      assert.strictEqual((yield* decide("approve")).headers["location"], "/operator?done=approve")
      assert.strictEqual((yield* decide("decline")).status, 409)
      const transition = (name: string) => submit("/operator", { do: "transition", account: id, transition: name })
      for (const [name, status] of [["suspend", 303], ["suspend", 409], ["restore", 303], ["revoke", 303], ["burn", 400]] as const) {
        assert.strictEqual((yield* transition(name)).status, status, name)
      }
      assert.strictEqual((yield* submit("/operator", { do: "transition", account: "nobody", transition: "grant" })).status, 404)
      assert.deepInclude((yield* sandbox.state).accounts.find((account) => account.id === id), { access: "revoked" })
    }))

  it.effect("shows all pending requests, and the latest decisions", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.reset
      const { id } = yield* sandbox.createAccount({ access: "none" })
      for (let number = 1; number <= 21; number++) {
        const request = yield* sandbox.requestAccess(id, { useCase: "u", botName: `bot ${number}` })
        yield* sandbox.decideAccess(request.id, "decline")
      }
      yield* sandbox.requestAccess(id, { useCase: "u", botName: "bot 22" })
      const { text } = yield* request("GET", "/operator")
      assert.include(text, `aria-label="Approve bot 22"`)
      assert.include(text, "bot 21 <")
      assert.include(text, "bot 2 <")
      assert.notInclude(text, "bot 1 <")
    }))

  it.effect("finds accounts by the start of their username", () =>
    Effect.gen(function*() {
      const { text } = yield* request("GET", "/operator?start=corner-")
      assert.include(text, `aria-label="Suspend corner-shop"`)
      assert.notInclude(text, `aria-label="Suspend tea-and-tide"`)
    }))
})

layer(layerInProcess())("the console", (it) => {
  it.effect("shows each decision with its rule", () =>
    Effect.gen(function*() {
      yield* call("GET", "/users/nobody")
      yield* call("GET", "/me", { key: null })
      const { text } = yield* request("GET", "/console")
      for (const shown of ["/users/nobody", "profiles.unknown", "404", "admission.key", "401"]) {
        assert.include(text, shown)
      }
    }))

  it.effect("adds every kind of fault, clears them, and names missing fields", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const fault = (inputs: Readonly<Record<string, string>>) => submit("/console", { do: "fault", when: "before", ...inputs })
      for (
        const inputs of [
          { kind: "delay", millis: "1.5" },
          { kind: "status", status: "503", retryAfter: "soon", method: "GET", path: "/me", times: "3" },
          { kind: "status", status: "302", location: "https://elsewhere.test/" },
          { kind: "drop", when: "after", rate: "0.25" },
          { kind: "cut", status: "200", code: "LATER", message: "m" },
          { kind: "slow", millis: "20" },
          { kind: "garbage", body: "<html>", contentType: "text/html" }
        ]
      ) {
        assert.strictEqual((yield* fault(inputs)).status, 303, inputs.kind)
      }
      assert.deepStrictEqual((yield* sandbox.faults).map(({ fault }) => fault), [
        { kind: "delay", when: "before", millis: 1.5 },
        { kind: "status", when: "before", status: 503, retryAfter: "soon", method: "GET", path: "/me", times: 3 },
        { kind: "status", when: "before", status: 302, location: "https://elsewhere.test/" },
        { kind: "drop", when: "after", rate: 0.25 },
        { kind: "cut", when: "before", status: 200, code: "LATER", message: "m" },
        { kind: "slow", when: "before", millis: 20 },
        { kind: "garbage", body: "<html>", contentType: "text/html" }
      ])
      const { text } = yield* request("GET", "/console")
      // Sequences are added by the control API only.
      for (const name of new Set(Fault.members.flatMap(({ fields }) => "outcomes" in fields ? [] : Object.keys(fields)))) {
        assert.include(text, ` name="${name}"`)
      }
      for (const { fault } of yield* sandbox.faults) {
        assert.include(text, `<td>${fault.kind}</td>`)
      }
      for (
        const [inputs, said] of [
          [{ kind: "delay" }, "Duration is missing or invalid"],
          [{ kind: "status", status: "99" }, "Status is missing or invalid"],
          [{ kind: "drop", times: "x" }, "Times is missing or invalid"],
          [{ kind: "toString" }, "Kind is unknown"]
        ] as const
      ) {
        const reply = yield* fault(inputs)
        assert.strictEqual(reply.status, 400)
        assert.include(reply.text, said)
      }
      assert.strictEqual((yield* submit("/console", { do: "clear" })).status, 303)
      assert.deepStrictEqual(yield* sandbox.faults, [])
    }))

  it.effect("advances the clock, never sets it back, and resets", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const advance = (forward: string, unit: string) => submit("/console", { do: "advance", forward, unit })
      assert.strictEqual((yield* advance("2", "days")).status, 303)
      assert.strictEqual((yield* sandbox.clock).aheadMillis, 2 * 24 * 3_600_000)
      for (
        const [forward, unit] of [["-1", "days"], ["0", "days"], ["", "days"], ["x", "hours"], ["1", "years"], ["9999999", "days"]] as const
      ) {
        assert.strictEqual((yield* advance(forward, unit)).status, 400, forward)
      }
      assert.strictEqual((yield* submit("/console", { do: "reset" })).status, 303)
      assert.strictEqual((yield* sandbox.clock).aheadMillis, 0)
    }))
})

describe("the reference", () => {
  for (const undocumented of [true, false]) {
    layer(layerInProcess({ assumptions: { undocumented } }))(undocumented ? "with assumed operations" : "of the document alone", (it) => {
      it.effect("contains every operation, code and schema of the OpenAPI document, which is served too", () =>
        Effect.gen(function*() {
          const document = openApi({ undocumented })
          assert.deepStrictEqual((yield* request("GET", "/openapi.json")).json, JSON.parse(JSON.stringify(document)))
          const { text } = yield* request("GET", "/reference")
          for (const { operationId, responses } of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
            assert.include(text, `id="${operationId}"`)
            for (const [, { description }] of Object.entries(responses).filter(([status]) => Number(status) >= 400)) {
              assert.include(text, description)
            }
          }
          assert.include(text, `{ <code>data</code>: array of <a href="#schema-Post">Post</a>, <code>next_cursor</code>: string or null }`)
          assert.include(text, "RATE_LIMITED with <code>Retry-After</code>")
          for (const name of Object.keys(document.components.schemas)) {
            assert.include(text, `id="schema-${name}"`)
          }
          const assumed = JSON.stringify(document).split(`"x-plaza-assumed":true`).length
          assert.strictEqual(text.split(">assumed<").length, assumed)
        }))
    })
  }
})

describe("over a socket, the pages", () => {
  const statusUnder = (path: string, headers: Readonly<Record<string, string>>) =>
    Effect.flatMap(Sandbox.Sandbox, ({ webUrl }) =>
      Effect.async<number | undefined>((resume) => {
        open(new URL(path, webUrl), { headers }, (response) => {
          response.resume()
          resume(Effect.succeed(response.statusCode))
        }).end()
      }))
  const foreign = [{ host: "evil.example" }, { host: "localhost.evil.example:80" }, { origin: "http://evil.example" }, { origin: "null" }]

  layer(layerSocket(), { excludeTestServices: true })((it) => {
    it.effect("accept requests from this machine under any of its own names, and no others", () =>
      Effect.gen(function*() {
        for (const path of pages) {
          for (const headers of [{ host: "localhost:1" }, { host: "127.0.0.1" }, { host: "[::1]:1" }]) {
            assert.strictEqual(yield* statusUnder(path, { ...as("1001"), ...headers }), 200, path)
          }
          for (const headers of foreign) {
            assert.strictEqual(yield* statusUnder(path, { ...as("1001"), ...headers }), 403, `${path} ${JSON.stringify(headers)}`)
          }
        }
      }))
  })

  it.live("accept requests from anyone with control set to anyone", () =>
    Effect.gen(function*() {
      for (const headers of foreign) {
        assert.strictEqual(yield* statusUnder("/operator", headers), 200, JSON.stringify(headers))
      }
    }).pipe(Effect.provide(layerSocket({ control: "anyone", host: "0.0.0.0", allowedHosts: ["*"] }))))
})

const characters: Readonly<Record<string, string>> = { "&lt;": "<", "&gt;": ">", "&quot;": "\"", "&#39;": "'", "&amp;": "&" }

describe("a template", () => {
  it.prop("contains its values, which can't start or end a tag or an attribute", [
    FastCheck.string({ unit: "grapheme" }),
    FastCheck.integer()
  ], ([text, number]) => {
    const written = String(html`${text}`)
    assert.notMatch(written, /[<>"']/)
    assert.strictEqual(written.replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (entity) => characters[entity] ?? ""), text)
    const inner = html`<b title="${text}">${text}</b>`
    assert.strictEqual(String(html`${[inner, number, undefined, null, false]}`), `<b title="${written}">${written}</b>${number}`)
  })
})
