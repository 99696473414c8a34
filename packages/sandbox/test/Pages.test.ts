/**
 * The pages without a browser: accepted callers, headers and refusals; and the value of a key appears in one
 * response and nowhere else.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { between, unicode } from "@plaza/testing/Generators"
import { Effect, Redacted } from "effect"
import { request as open } from "node:http"
import { openApi, operationsOf } from "../src/OpenApiDocument.ts"
import { html } from "../src/web/Html.ts"
import { call, control, layerInProcess, layerSocket, refusal } from "./support.ts"
import { as, request, submit } from "./WebPages.ts"

const pages = [
  "/",
  "/sign-in",
  "/settings/developers",
  "/operator",
  "/console",
  "/console/state",
  "/console/faults",
  "/console/behaviour",
  "/console/snapshots",
  "/console/worlds",
  "/console/requests.har",
  "/reference",
  "/reference/posts",
  "/reference/schemas",
  "/openapi.json",
  "/assets/plaza.css",
  "/assets/plaza.js",
  "/assets/icon.svg",
  "/favicon.ico"
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
      for (const path of pages) {
        assert.strictEqual((yield* request("HEAD", path, as("1001"))).status, 200, path)
      }
      const put = yield* request("PUT", "/operator")
      assert.deepStrictEqual([put.status, put.headers["allow"]], [405, "GET, POST"])
      const post = yield* submit("/reference", {})
      assert.deepStrictEqual([post.status, post.headers["allow"]], [405, "GET"])
      assert.strictEqual((yield* submit("/reference/schemas", {})).status, 405)
    }))

  it.effect("leaves every other path to the interface", () =>
    Effect.gen(function*() {
      for (const path of ["/nowhere", "/operator/", "/settings", "/assets/"]) {
        assert.strictEqual(refusal(yield* request("GET", path)), "404 NOT_FOUND", path)
      }
    }))

  it.effect("is a page for a person who opens a wrong path, and suggests the right one", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.reset
      const html = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" }
      for (const [path, meant] of [["/operator/", "/operator"], ["/Console", "/console"], ["/nowhere", undefined]] as const) {
        const { headers, status, text } = yield* request("GET", path, html)
        assert.deepStrictEqual([status, headers["content-type"]], [404, "text/html; charset=utf-8"], path)
        assert.strictEqual(text.includes("Did you mean"), meant !== undefined, path)
        assert.include(text, meant === undefined ? "There is no page" : `href="${meant}"`)
        assert.include(headers["content-security-policy"] ?? "", "default-src 'none'")
      }
      assert.deepStrictEqual(yield* sandbox.requests, [])
      assert.strictEqual(refusal(yield* request("GET", "/open/v1/nowhere", html)), "404 NOT_FOUND")
      assert.strictEqual(refusal(yield* request("POST", "/nowhere", html)), "404 NOT_FOUND")
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
        const { text } = yield* request("GET", "/operator", { cookie: `plaza_done=${word}` })
        assert.strictEqual(text.includes(`class="message good"`), told, word)
        assert.notInclude(text, "<b>")
      }
    }))

  it.effect("shows a success message once", () =>
    Effect.gen(function*() {
      const { headers, status } = yield* submit("/console/snapshots", { do: "save", name: "once" })
      assert.deepStrictEqual([status, headers["location"]], [303, "/console/snapshots"])
      const cookie = (headers["set-cookie"] ?? "").split(";")[0] ?? ""
      const shown = yield* request("GET", "/console/snapshots", { cookie })
      assert.include(shown.text, "Snapshot saved.")
      assert.match(shown.headers["set-cookie"] ?? "", /^plaza_done=; .*Max-Age=0$/)
      assert.notInclude((yield* request("GET", "/console/snapshots")).text, "Snapshot saved.")
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
        for (const path of [developers, "/operator", "/console/faults", "/console/request", "/reference/posts", "/sign-in", "/"]) {
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

  it.effect("is one click for the seeded shop, if the data has it", () =>
    Effect.gen(function*() {
      const button = /<input type="hidden" name="known" value="([^"]*)"><button[^>]*>Sign in as corner-shop</
      const [, known = ""] = button.exec((yield* request("GET", "/sign-in")).text) ?? []
      const { headers } = yield* submit("/sign-in", { do: "choose", known })
      const cookie = (headers["set-cookie"] ?? "").split(";")[0] ?? ""
      assert.include((yield* request("GET", developers, { cookie })).text, "Signed in as <strong>corner-shop</strong>")
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

  it.effect("ends with signing out", () =>
    Effect.gen(function*() {
      assert.include((yield* request("GET", developers, as("1001"))).text, "Sign out")
      const { headers, status } = yield* submit("/sign-in", { do: "out" }, as("1001"))
      assert.deepStrictEqual([status, headers["location"]], [303, "/sign-in"])
      assert.match(headers["set-cookie"] ?? "", /^plaza_account=; .*Max-Age=0$/)
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
      assert.strictEqual((yield* submit(developers, form, as(id))).headers["location"], developers)
      assert.strictEqual((yield* submit(developers, form, as(id))).status, 409)
    }))

  it.effect("leads from a request for access to the operator, and from the decision back", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { id } = yield* sandbox.createAccount({ access: "none" })
      yield* submit(developers, form, as(id))
      const sent = yield* request("GET", developers, { cookie: `plaza_account=${id}; plaza_done=requested` })
      assert.match(sent.text, /role="status"><p>Request sent[^]*?<a href="\/operator">/)
      // Also later, without the message.
      assert.match((yield* request("GET", developers, as(id))).text, /<section aria-labelledby="access">[^]*<a href="\/operator">/)
      assert.match((yield* request("GET", "/operator", { cookie: "plaza_done=approve" })).text,
        /role="status"><p>[^]*?href="\/settings\/developers"/)
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
      assert.strictEqual((yield* submit(developers, key, as(id))).status, 303)
      yield* sandbox.setAccess(id, "suspend")
      assert.notInclude((yield* request("GET", developers, as(id))).text, "Create a key")
      const made = (yield* sandbox.state).keys.find(({ accountId }) => accountId === id)
      assert.deepInclude(made, { name: "k", scopes: ["posts:write"] })
      const revoke = { do: "revoke", key: made?.id ?? "", subject: "k" }
      const question = yield* submit(developers, revoke, as(id))
      assert.strictEqual(question.status, 200)
      assert.include(question.text, "Revoke this key?")
      assert.deepInclude((yield* sandbox.state).keys.find(({ accountId }) => accountId === id), { state: "active" })
      const revoked = yield* submit(developers, { ...revoke, confirmed: "yes" }, as(id))
      assert.strictEqual(revoked.headers["location"], developers)
      assert.deepInclude((yield* sandbox.state).keys.find(({ accountId }) => accountId === id), { state: "revoked" })
    }))

  it.effect("creates a key with all scopes by one choice", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { id } = yield* sandbox.createAccount()
      assert.strictEqual((yield* submit(developers, { do: "create", name: "all", all: "yes" }, as(id))).status, 303)
      assert.lengthOf((yield* sandbox.state).keys.find(({ accountId }) => accountId === id)?.scopes ?? [], 13)
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
      assert.strictEqual((yield* submit(developers, { do: "revoke", key: "k1", confirmed: "yes" }, as(id))).status, 404)
      assert.strictEqual((yield* call("GET", "/me")).status, 200)
    }))

  it.effect("shows the value of a key in one response and nowhere else", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { id } = yield* sandbox.createAccount()
      const made = yield* submit(developers, [["do", "create"], ["name", "once"], ["scopes", "posts:write"], ["scopes", "profile:read"]],
        as(id))
      const location = made.headers["location"] ?? ""
      assert.strictEqual(made.status, 303)
      // Another account can't see it, and does not use up the only view.
      assert.notMatch((yield* request("GET", location, as("1001"))).text, /key_[A-Za-z0-9]{40}/)
      const { headers, text } = yield* request("GET", location, as(id))
      const value = /key_[A-Za-z0-9]{40}/.exec(text)?.[0] ?? assert.fail("no key is shown")
      assert.strictEqual((yield* call("GET", "/me", { key: value })).status, 200)
      for (
        const line of [
          `export PLAZA_BASE_URL=${sandbox.baseUrl}\nexport PLAZA_API_KEY=${value}`,
          `set -gx PLAZA_API_KEY ${value}`,
          `$env:PLAZA_API_KEY = &quot;${value}&quot;`
        ]
      ) {
        assert.include(text, line)
      }
      assert.notInclude(JSON.stringify([made.headers, headers]), value)
      assert.notInclude((yield* request("GET", location, as(id))).text, value)
      assert.lengthOf((yield* sandbox.state).keys.filter(({ accountId }) => accountId === id), 1)
      const secret = value.slice(4, -4)
      for (const path of [...pages, ...(yield* sandbox.requests).map((record) => `/console/request?id=${record.id}`)]) {
        assert.notInclude((yield* request("GET", path, as(id))).text, secret, path)
      }
      assert.notInclude((yield* control("GET", "/state")).text + (yield* control("GET", "/requests")).text, secret)
      const ready = Redacted.value(sandbox.apiKey)
      assert.notInclude((yield* request("GET", developers, as("1001"))).text, ready.slice(4, -4))
    }))
})

layer(layerInProcess({ latitude: { keyPrefix: "a'$b" } }))("the lines for a shell", (it) => {
  it.effect("quote a key whose prefix means something to the shell", () =>
    Effect.gen(function*() {
      const made = yield* submit(developers, { do: "create", name: "k", all: "yes" }, as("1001"))
      const page = (yield* request("GET", made.headers["location"] ?? "", as("1001"))).text.replaceAll("&#39;", "'")
      assert.match(page, /export PLAZA_API_KEY='a'\\''\$b\w{40}'/)
      assert.match(page, /set -gx PLAZA_API_KEY 'a\\'\$b\w{40}'/)
      assert.match(page, /\$env:PLAZA_API_KEY = 'a''\$b\w{40}'/)
    }))
})

layer(layerInProcess())("the operator's page", (it) => {
  it.effect("decides once, and changes access as the interface says", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { id } = yield* sandbox.createAccount({ access: "none", username: "applicant" })
      const { id: requestId } = yield* sandbox.requestAccess(id, { useCase: "u", botName: "The applicant's bot" })
      assert.include((yield* request("GET", "/operator")).text, "The applicant&#39;s bot")
      const decide = (decision: string, confirmed = "yes") => submit("/operator", { do: "decide", request: requestId, decision, confirmed })
      assert.strictEqual((yield* decide("burn")).status, 400)
      assert.include((yield* decide("decline", "")).text, "Decline this request?")
      assert.strictEqual((yield* decide("approve", "")).headers["location"], "/operator")
      assert.strictEqual((yield* decide("decline")).status, 409)
      const transition = (name: string, confirmed = "yes") =>
        submit("/operator", { do: "transition", account: id, transition: name, confirmed, subject: "<applicant>" })
      const question = yield* transition("revoke", "")
      assert.include(question.text, "<strong>&lt;applicant&gt;</strong>")
      assert.deepInclude((yield* sandbox.state).accounts.find((account) => account.id === id), { access: "granted" })
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

describe("the reference", () => {
  for (const undocumented of [true, false]) {
    layer(layerInProcess({ assumptions: { undocumented } }))(undocumented ? "with assumed operations" : "of the document alone", (it) => {
      it.effect("contains every operation, code and schema of the OpenAPI document, which is served too", () =>
        Effect.gen(function*() {
          const document = openApi({ undocumented })
          const { baseUrl } = yield* Sandbox.Sandbox
          const served = { ...document, servers: [{ url: baseUrl, description: "This sandbox" }] }
          assert.deepStrictEqual((yield* request("GET", "/openapi.json")).json, JSON.parse(JSON.stringify(served)))
          const overview = (yield* request("GET", "/reference")).text
          const areas = document.tags.map(({ name }) => `/reference/${name}`)
          const text = (yield* Effect.forEach([...areas, "/reference/schemas"], (path) => request("GET", path))).map(({ text }) => text)
            .join("")
          for (const { operationId, responses, tags } of operationsOf(document).map(({ operation }) => operation)) {
            assert.include(text, `<h2 id="${operationId}"`)
            // An older link to the one page of the reference leads to a row with a link.
            assert.match(overview, new RegExp(`<tr id="${operationId}">.*href="/reference/${tags[0]}#${operationId}"`))
            for (const [, { description }] of Object.entries(responses).filter(([status]) => Number(status) >= 400)) {
              assert.include(text, description)
            }
          }
          assert.include(text,
            `{ <code>data</code>: array of <a href="/reference/schemas#schema-Post">Post</a>, <code>next_cursor</code>: string or null }`)
          assert.include(text, "RATE_LIMITED with <code>Retry-After</code>")
          for (const name of Object.keys(document.components.schemas)) {
            assert.include(text, `<h2 id="schema-${name}"`)
            assert.include(overview, `<li id="schema-${name}"><a href="/reference/schemas#schema-${name}">`)
          }
          const assumed = JSON.stringify(document).split(`"x-plaza-assumed":true`).length
          assert.strictEqual(text.split(">assumed operation<").length, assumed)
        }))
    })
  }
})

const characters: Readonly<Record<string, string>> = { "&lt;": "<", "&gt;": ">", "&quot;": "\"", "&#39;": "'", "&amp;": "&" }

const unescaped = (text: string): string => text.replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (entity) => characters[entity] ?? "")

/** The forms of a page that try an operation, with what a browser submits of each. */
const tryForms = (page: string): ReadonlyArray<Readonly<Record<string, string>>> =>
  [...page.matchAll(/<details class="try"[^]*?<form[^>]*>([^]*?)<\/form>/g)].map(([, form = ""]) =>
    Object.fromEntries([
      ...form.matchAll(/<input [^>]*name="([^"]*)"[^>]* value="([^"]*)">/g),
      ...form.matchAll(/<textarea [^>]*name="([^"]*)"[^>]*>\n([^]*?)<\/textarea>/g)
    ].map(([, name = "", value = ""]) => [name, unescaped(value)]))
  )

const areas = ["profiles", "media", "posts", "store", "chat", "stories"].map((area) => `/reference/${area}`)

for (
  const [where, options] of [
    ["the seeded data", {}],
    ["ids that are hard to put into a path", { latitude: { idForm: "special" } }],
    ["other statuses and bodies", { latitude: 42 }]
  ] as const
) {
  layer(layerInProcess(options))(`trying an operation, with ${where},`, (it) => {
    it.effect("is accepted with the example of its form", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        yield* sandbox.createPost({ text: "of a new id" })
        const names: Array<string> = []
        for (const path of areas) {
          for (const inputs of tryForms((yield* request("GET", path)).text)) {
            const name = inputs["operation"] ?? ""
            names.push(name)
            const { headers, status } = yield* submit(path, inputs)
            assert.strictEqual(status, 303, name)
            const last = (yield* sandbox.requests).at(-1)
            assert.deepInclude(last, { operation: name, accountId: "1001" })
            assert.include([200, 201, 204], last?.deliveredStatus, `${name}: ${last?.path} ${last?.reason}`)
            const [page = "", anchor] = (headers["location"] ?? "").split("#")
            assert.strictEqual(anchor, `try-${name}`)
            const { text } = yield* request("GET", page)
            // The response, a link to the request, and the form as it was sent.
            assert.match(text, new RegExp(`<details class="try" id="try-${name}" open>`))
            assert.include(text, `aria-label="Response of ${name}"`)
            assert.include(text, `href="/console/request?id=${last?.id}"`)
            assert.deepStrictEqual(tryForms(text).find(({ operation }) => operation === name), inputs)
          }
        }
        assert.sameMembers(names, operationsOf(openApi({ undocumented: true })).map(({ operation }) => operation.operationId))
      }))
  })
}

layer(layerInProcess())("trying an operation", (it) => {
  it.effect("sends what was entered, and shows the refusal of the service", () =>
    Effect.gen(function*() {
      const reply = yield* submit("/reference/store", {
        do: "try",
        operation: "setStock",
        "setStock-path-id": "CAP/RED L",
        "setStock-body": `{"stock":-1}`
      })
      const { text } = yield* request("GET", (reply.headers["location"] ?? "").replace(/#.*/, ""))
      assert.include(text, "VALIDATION_ERROR")
      assert.include(text, `value="CAP/RED L"`)
      assert.include(text, "{&quot;stock&quot;:-1}")
      assert.deepInclude((yield* (yield* Sandbox.Sandbox).requests).at(-1), {
        path: "/store/products/CAP%2FRED%20L/stock",
        deliveredStatus: 400
      })
    }))

  it.effect("says that a write changes the data, and that an id is missing", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const page = (yield* request("GET", "/reference/posts")).text
      const formOf = (name: string) => new RegExp(`id="try-${name}"[^]*?</details>`).exec(page)?.[0] ?? ""
      assert.include(formOf("createPost"), "The data of this sandbox changes.")
      assert.notInclude(formOf("listPosts"), "The data of this sandbox changes.")
      const before = (yield* sandbox.requests).length
      const refused = yield* submit("/reference/posts", { do: "try", operation: "likePost", "likePost-path-id": "" })
      assert.strictEqual(refused.status, 400)
      assert.include(refused.text, "id must not be empty: write an id of this sandbox")
      assert.match(refused.text, /<details class="try" id="try-likePost" open>/)
      assert.strictEqual((yield* submit("/reference/posts", { do: "try", operation: "burn" })).status, 404)
      assert.lengthOf(yield* sandbox.requests, before)
    }))

  it.effect("shows a fault as the caller sees it", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.addFault({ kind: "drop", when: "after", path: "/me" })
      const reply = yield* submit("/reference/profiles", { do: "try", operation: "getMe" })
      assert.include((yield* request("GET", (reply.headers["location"] ?? "").replace(/#.*/, ""))).text, "The caller received no response")
    }))

  it.effect("acts on the world that is shown", () =>
    Effect.gen(function*() {
      const { requests, worlds } = yield* Sandbox.Sandbox
      const world = yield* worlds.create({ id: "other", seed: 9 })
      const before = (yield* requests).length
      const cookie = { cookie: "plaza_world=other" }
      const reply = yield* submit("/reference/profiles", { do: "try", operation: "getMe" }, cookie)
      const { text } = yield* request("GET", (reply.headers["location"] ?? "").replace(/#.*/, ""), cookie)
      assert.include(text, "&quot;username&quot;: &quot;corner-shop&quot;")
      assert.deepInclude((yield* world.requests).at(-1), { operation: "getMe", deliveredStatus: 200 })
      assert.lengthOf(yield* requests, before)
    }))
})

describe("over a socket, the pages", () => {
  const statusUnder = (path: string, headers: Readonly<Record<string, string>>) =>
    Effect.flatMap(Sandbox.Sandbox, ({ webUrl }) =>
      Effect.callback<number | undefined>((resume) => {
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

describe("a template", () => {
  it.prop("contains its values, which can't start or end a tag or an attribute", [
    unicode(),
    between(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
  ], ([text, number]) => {
    const written = String(html`${text}`)
    assert.notMatch(written, /[<>"']/)
    assert.strictEqual(written.replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (entity) => characters[entity] ?? ""), text)
    const inner = html`<b title="${text}">${text}</b>`
    assert.strictEqual(String(html`${[inner, number, undefined, null, false]}`), `<b title="${written}">${written}</b>${number}`)
  })
})
