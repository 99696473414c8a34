/**
 * The pages of the console and the home page without a browser: requests, state, faults, behaviour and snapshots.
 */
import { assert, layer } from "@effect/vitest"
import { HarValidator } from "@har-sdk/validator"
import { Fault, Latitude, Sandbox } from "@plaza/sandbox"
import { Effect, Fiber, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import { call, layerInProcess } from "./support.ts"
import { request, submit } from "./WebPages.ts"

const text = (path: string) => Effect.map(request("GET", path), (page) => page.text)

/** The rows of the list of requests. */
const rows = (query: string) => Effect.map(text(`/console${query}`), (page) => page.split("data-request=").length - 1)

const newest = Effect.gen(function*() {
  const { requests } = yield* Sandbox.Sandbox
  return (yield* requests).at(-1) ?? assert.fail("no request was logged")
})

const statusOf = (path: string, inputs: Readonly<Record<string, string>>) => Effect.map(submit(path, inputs), ({ status }) => status)

layer(layerInProcess())("the home page", (it) => {
  it.effect("has the addresses and the key in full, for three shells", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const page = yield* text("/")
      const key = Redacted.value(sandbox.apiKey)
      for (
        const shown of [
          `value="${sandbox.baseUrl}"`,
          `value="${key}"`,
          `value="${sandbox.controlUrl}"`,
          `export PLAZA_BASE_URL=${sandbox.baseUrl}`,
          `set -gx PLAZA_API_KEY ${key}`,
          `$env:PLAZA_API_KEY = &quot;${key}&quot;`,
          `curl &#39;${sandbox.baseUrl}/me&#39;`,
          `-H &#39;Authorization: Bearer ${key}&#39;`
        ]
      ) {
        assert.include(page, shown)
      }
    }))

  it.effect("makes a post fail after it is stored, and shows that the list has it", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const posts = Effect.map(sandbox.state, (state) => state.posts.length)
      const before = yield* posts
      const { headers } = yield* submit("/", { do: "demonstrate" })
      const page = yield* text((headers["location"] ?? "").replace(/#.*/, ""))
      assert.strictEqual(yield* posts, before + 1)
      assert.include(page, "yet the sandbox stored the post")
      assert.include(page, "The list has the post.")
      assert.deepStrictEqual(yield* sandbox.faults, [])
      assert.deepStrictEqual(
        (yield* sandbox.requests).slice(-2).map(({ deliveredStatus, operation }) => [operation, deliveredStatus]),
        [["createPost", 503], ["listPosts", 200]]
      )
      assert.include(yield* text("/console"), "503 replaced, then GET /me/posts, found")
    }))

  it.effect("says what happened if another fault or a refusal comes before the demonstration", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const demonstrate = Effect.flatMap(
        submit("/", { do: "demonstrate" }),
        ({ headers }) => text((headers["location"] ?? "").replace(/#.*/, ""))
      )
      yield* sandbox.addFault({ kind: "drop", when: "before", method: "POST" })
      const dropped = yield* demonstrate
      assert.match(dropped, /The sandbox stored no post: stopped before the service by fault_\d+\./)
      assert.include(dropped, "The list does not have the post")
      yield* submit("/operator", { do: "transition", account: "1001", transition: "suspend" })
      assert.include(yield* demonstrate, "The sandbox stored no post: ")
      yield* submit("/operator", { do: "transition", account: "1001", transition: "restore" })
      assert.deepStrictEqual(yield* sandbox.faults, [])
    }))

  it.effect("never advises to send a stored post again, whatever the list shows", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const demonstrate = Effect.flatMap(
        submit("/", { do: "demonstrate" }),
        ({ headers }) => text((headers["location"] ?? "").replace(/#.*/, ""))
      )
      for (
        const [name, prepare, says] of [
          ["a list that lags", sandbox.setLatitude({ listLagMillis: 60_000 }), "still does not know"],
          ["a list that fails", sandbox.addFault({ kind: "status", when: "before", status: 503, method: "GET" }), "still does not know"],
          ["a list that breaks off", sandbox.addFault({ kind: "cut", when: "after", method: "GET" }), "still does not know"],
          ["a list that is no JSON", sandbox.addFault({ kind: "garbage", body: "<html>", method: "GET" }), "still does not know"],
          ["another order", sandbox.setLatitude({ listOrder: "oldestFirst" }), "still does not know"]
        ] as const
      ) {
        yield* sandbox.reset
        yield* prepare
        const page = yield* demonstrate
        assert.include(page, "yet the sandbox stored the post", name)
        assert.include(page, says, name)
        assert.notInclude(page, "can send it again", name)
        assert.notMatch(yield* text("/console"), /One call:[^<]*<\/span> [^<]*not found/, name)
      }
      yield* sandbox.setLatitude({ listOrder: "newestFirst", listLagMillis: 0 })
      yield* sandbox.reset
    }))

  it.effect("leaves the fault that waits for a program", () =>
    Effect.gen(function*() {
      yield* submit("/", { do: "arm" })
      yield* submit("/", { do: "demonstrate" })
      assert.strictEqual((yield* call("POST", "/posts", { json: { text: "from a program" } })).status, 503)
      assert.strictEqual((yield* call("POST", "/posts", { json: { text: "the next one" } })).status, 200)
    }))

  it.effect("makes the next post of a program fail", () =>
    Effect.gen(function*() {
      const { headers } = yield* submit("/", { do: "arm" })
      const page = yield* request("GET", "/", { cookie: headers["set-cookie"]?.split(";")[0] ?? "" })
      assert.include(page.text, "The next POST /posts fails with 503 after it is stored.")
      assert.strictEqual((yield* call("GET", "/me/posts")).status, 200)
      assert.strictEqual((yield* call("POST", "/posts", { json: { text: "from a program" } })).status, 503)
      assert.include((yield* call("GET", "/me/posts")).text, "from a program")
    }))

  it.effect("sends a first request and shows its response", () =>
    Effect.gen(function*() {
      const { headers, status } = yield* submit("/", { do: "try" })
      assert.strictEqual(status, 303)
      const page = yield* text((headers["location"] ?? "").replace(/#.*/, ""))
      assert.include(page, "&quot;username&quot;: &quot;corner-shop&quot;")
      assert.deepInclude(yield* newest, { operation: "getMe", deliveredStatus: 200 })
    }))
})

layer(layerInProcess())("the list of requests", (it) => {
  it.effect("has each decision with its rule, the key and the account", () =>
    Effect.gen(function*() {
      yield* call("GET", "/users/nobody?a=1&b=2")
      yield* call("GET", "/me", { key: null })
      const page = yield* text("/console")
      for (const shown of ["/users/nobody?a=1&amp;b=2", "profiles.unknown", "404", "admission.key", "401", "corner-shop", "seeded"]) {
        assert.include(page, shown)
      }
    }))

  it.effect("is filtered by text, status and account", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.reset
      assert.include(yield* text("/console"), "No requests yet.")
      const { id } = yield* sandbox.createAccount()
      const { apiKey } = yield* sandbox.createKey(id)
      yield* call("GET", "/me")
      yield* call("GET", "/me", { key: apiKey })
      yield* call("GET", "/users/nobody")
      yield* sandbox.addFault({ kind: "drop", when: "before" })
      yield* Effect.ignore(call("GET", "/me"))
      for (
        const [query, count] of [
          ["", 4],
          ["?text=NOBODY", 1],
          ["?text=profiles.getMe", 2],
          ["?status=2", 2],
          ["?status=4", 1],
          ["?status=none", 1],
          ["?status=fault", 1],
          [`?account=${id}`, 1],
          [`?account=${id}&status=4`, 0]
        ] as const
      ) {
        assert.strictEqual(yield* rows(query), count, query)
      }
      assert.include(yield* text("/console?text=zzz"), "No request matches the filter.")
    }))
})

layer(layerInProcess())("a request beside the list", (it) => {
  it.effect("is marked in the list, and keeps the filter", () =>
    Effect.gen(function*() {
      yield* call("GET", "/users/nobody")
      yield* call("GET", "/me")
      const { id } = yield* newest
      const page = yield* text(`/console?text=users&id=${id}`)
      assert.notInclude(page, "aria-current=\"true\"")
      assert.include(page, "profiles.getMe")
      assert.include(page, `/console?text=users&id=`.replace("&", "&amp;"))
      assert.include(yield* text(`/console?id=${id}`), `data-request="${id}" aria-current="true"`)
    }))

  it.effect("that the sandbox no longer keeps leaves the list usable", () =>
    Effect.gen(function*() {
      yield* call("GET", "/me")
      const { status, text } = yield* request("GET", "/console?id=req_999")
      assert.strictEqual(status, 200)
      assert.include(text, "req_999")
      assert.include(text, "data-request=")
    }))

  it.effect("says whether a write was carried out, whatever its caller received", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.reset
      const page = Effect.flatMap(newest, ({ id }) => text(`/console?id=${id}`))
      yield* sandbox.addFault({ kind: "status", when: "after", status: 503, method: "POST" })
      yield* call("POST", "/posts", { json: { text: "stored" } })
      const [created] = (yield* sandbox.state).posts.filter((post) => post.text === "stored")
      assert.include(yield* page, `carried out: created <code>${created?.id}</code>`)
      assert.include(yield* text("/console"), "carried out")
      yield* sandbox.addFault({ kind: "status", when: "before", status: 503, method: "POST" })
      yield* call("POST", "/posts", { json: { text: "lost" } })
      assert.include(yield* page, "none: the service changed nothing")
      yield* call("GET", "/me")
      assert.notInclude(yield* page, "<dt>Effect</dt>")
    }))
})

layer(layerInProcess())("a request in detail", (it) => {
  it.effect("has headers and bodies of both sides, and the curl command without the key", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.addFault({ kind: "status", when: "after", status: 503, retryAfter: "7" })
      yield* call("POST", "/posts", { json: { text: "it's <tea>" } })
      const page = yield* text(`/console/request?id=${(yield* newest).id}`)
      for (
        const shown of [
          "Bearer key_***",
          "&quot;text&quot;: &quot;it&#39;s &lt;tea&gt;&quot;",
          "retry-after",
          "The service's own status: 200.",
          "fault_1",
          "Authorization: Bearer $PLAZA_API_KEY",
          "--data-raw &#39;{&quot;text&quot;:&quot;it&#39;\\&#39;&#39;s &lt;tea&gt;&quot;}&#39;"
        ]
      ) {
        assert.include(page, shown)
      }
      assert.notInclude(page, Redacted.value(sandbox.apiKey).slice(4))
      const gone = yield* request("GET", "/console/request?id=req_999")
      assert.strictEqual(gone.status, 404)
      assert.include(gone.text, "it keeps the newest ones until a reset")
      assert.include(gone.text, "<a href=\"/console\">Back to the page</a>")
    }))

  it.effect("has a curl command that sends brackets of the query and empty headers as they were", () =>
    Effect.gen(function*() {
      yield* call("GET", "/me/posts?filter[a]=1", { headers: { "x-empty": "" } })
      const page = yield* text(`/console/request?id=${(yield* newest).id}`)
      assert.match(page, /curl --globoff &#39;\S+\/me\/posts\?filter\[a\]=1&#39;/)
      assert.include(page, "-H &#39;x-empty;&#39;")
    }))

  it.effect("is sent again with the key of its caller", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.reset
      const { id } = yield* sandbox.createAccount({ username: "replayed" })
      const { apiKey } = yield* sandbox.createKey(id)
      yield* call("POST", "/posts", { key: apiKey, json: { text: "again" } })
      const first = yield* newest
      const { headers } = yield* submit("/console/request", { do: "replay", request: first.id })
      const second = yield* newest
      assert.strictEqual(headers["location"], `/console/request?id=${second.id}`)
      assert.notStrictEqual(second.id, first.id)
      assert.deepInclude(second, { accountId: first.accountId, rule: "posts.createPost", deliveredStatus: 200 })
      assert.lengthOf((yield* sandbox.state).posts.filter(({ text }) => text === "again"), 2)
    }))

  it.effect("shows the fault that hits a request that is sent again", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* call("GET", "/me")
      yield* sandbox.addFault({ kind: "drop", when: "after" })
      const { headers } = yield* submit("/console/request", { do: "replay", request: (yield* newest).id })
      assert.include(yield* text(headers["location"] ?? ""), "The caller received no response")
    }))

  it.effect("shows the request that is sent again, and not another one that arrives meanwhile", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* call("GET", "/me")
      yield* sandbox.addFault({ kind: "delay", when: "after", millis: 1_000, path: "/me" })
      const before = yield* sandbox.countRequests({ path: "/me" })
      const replay = yield* Effect.forkChild(submit("/console/request", { do: "replay", request: (yield* newest).id }))
      yield* Effect.repeat(Effect.andThen(Effect.yieldNow, sandbox.countRequests({ path: "/me" })), { until: (count) => count > before })
      yield* call("GET", "/users/1002")
      yield* TestClock.adjust("1 second")
      const { headers } = yield* Fiber.join(replay)
      const id = new URL(headers["location"] ?? "", "http://localhost").searchParams.get("id")
      assert.strictEqual((yield* sandbox.requests).find((record) => record.id === id)?.path, "/me")
    }))

  it.effect("is not sent again without its whole body, and says why", () =>
    Effect.gen(function*() {
      const form = new FormData()
      form.append("file", new Blob(["x"], { type: "image/png" }), "tea.png")
      const replay = Effect.flatMap(newest, ({ id }) => submit("/console/request", { do: "replay", request: id }))
      for (
        const [send, reason] of [
          [call("POST", "/media", { form }), "does not keep the bytes of uploads"],
          [call("POST", "/posts", { key: null, json: { text: "x" } }), "did not read the body"],
          [call("POST", "/posts", { json: { text: "x".repeat(100_000) } }), "keeps only the beginning of a body of 100011 bytes"]
        ] as const
      ) {
        yield* send
        const { id } = yield* newest
        const refused = yield* replay
        assert.strictEqual(refused.status, 409)
        assert.include(refused.text, reason)
        const page = yield* text(`/console/request?id=${id}`)
        assert.include(page, reason)
        assert.notInclude(page, `value="replay"`)
      }
      assert.strictEqual(yield* statusOf("/console/request", { do: "replay", request: "req_999" }), 404)
    }))
})

layer(layerInProcess())("the state browser", (it) => {
  it.effect("shows every table, page by page, and finds a text", () =>
    Effect.gen(function*() {
      for (
        const [query, shown] of [
          ["", "corner-shop"],
          ["of=posts", "Created"],
          ["of=products", "MUG-BLUE-250"],
          ["of=orders", "500001"],
          ["of=conversations", "No messages."],
          ["of=keys", "posts:write"],
          ["of=media", "image/"]
        ] as const
      ) {
        assert.include(yield* text(`/console/state?${query}`), shown, query)
      }
      assert.include(yield* text("/console/state?of=products"), "Next page")
      const second = yield* text("/console/state?of=products&page=1")
      assert.include(second, "Previous page")
      assert.notInclude(second, "MUG-BLUE-250")
      const found = yield* text("/console/state?of=products&text=blue-250")
      assert.include(found, "MUG-BLUE-250")
      assert.notInclude(found, "MUG-BLUE-350")
      assert.include(yield* text("/console/state?of=products&text=%25"), "50%-OFF-BOX")
      assert.include(yield* text("/console/state?of=posts&text=zzzzzz"), "Nothing contains this text.")
    }))

  it.effect("has a tab with the count of each table, and the chosen one is marked", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { accounts, orders, posts } = yield* sandbox.state
      const page = (yield* text("/console/state?of=orders&text=50000")).replaceAll(/<\/?span[^>]*>/g, "")
      for (
        const tab of [
          `<a href="/console/state?of=accounts">Accounts ${accounts.length}</a>`,
          `<a href="/console/state?of=posts">Posts ${posts.length}</a>`,
          `<a href="/console/state?of=orders" aria-current="page">Orders ${orders.length}</a>`
        ]
      ) {
        assert.include(page, tab)
      }
    }))

  it.effect("leads from an object to its requests, if there are any", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.reset
      const [post] = (yield* sandbox.state).posts
      const postId = post?.id ?? ""
      yield* call("PATCH", "/store/products/CAP%2fRED%20L/stock", { json: { stock: 1 } })
      yield* call("GET", "/store/products/0042")
      yield* call("GET", "/store/orders/500001")
      yield* call("POST", `/posts/${postId}/like`)
      yield* call("GET", "/conversations/conv_301/messages")
      for (
        const [of, id, path] of [
          ["products", "CAP/RED L", "/store/products/CAP%2fRED%20L/"],
          ["products", "0042", "/store/products/0042"],
          ["orders", "500001", "/store/orders/500001"],
          ["posts", postId, `/posts/${postId}/`],
          ["conversations", "conv_301", "/conversations/conv_301/"]
        ] as const
      ) {
        const page = yield* text(`/console/state?of=${of}&text=${encodeURIComponent(id)}`)
        const [, href = ""] = new RegExp(`href="([^"]*)" aria-label="Requests of ${id}"`).exec(page) ?? []
        assert.strictEqual(href, `/console?${new URLSearchParams({ text: path }).toString()}`, id)
        assert.include(yield* text(href), path)
        assert.strictEqual(yield* rows(href.slice("/console".length)), 1, id)
      }
      assert.notInclude(yield* text("/console/state?of=products&text=MUG"), "Requests of")
      const accounts = yield* text("/console/state")
      assert.include(accounts, `href="/console?account=1001" aria-label="Requests of 1001"`)
      assert.notInclude(accounts, "Requests of 1002")
    }))

  it.effect("finds a text whatever its case, also beyond ASCII", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.setProduct({ id: "Ä-7", name: "ΣΊΓΜΑ" })
      for (const wanted of ["Ä-7", "ä-7", "σίγμα"]) {
        assert.include(yield* text(`/console/state?of=products&text=${encodeURIComponent(wanted)}`), "ΣΊΓΜΑ")
      }
    }))

  it.effect("changes stock, shipments and profiles, and comes back to the same rows", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const change = (inputs: Readonly<Record<string, string>>) => submit("/console/state", inputs)
      const stock = yield* change({ do: "stock", id: "CAP/RED L", stock: "77", of: "products", text: "cap", page: "0" })
      assert.deepStrictEqual([stock.status, stock.headers["location"]], [303, "/console/state?of=products&text=cap"])
      const product = (yield* sandbox.state).products.find(({ id }) => id === "CAP/RED L")
      assert.deepStrictEqual([String(product?.accountId), product?.stock], ["1001", 77])
      assert.notStrictEqual(product?.name, "CAP/RED L")
      const order = Effect.map(sandbox.state, ({ orders }) => orders.find(({ id }) => id === "500001")?.shipment)
      yield* change({ do: "ship", id: "500001", carrier: "DHL", trackingNumber: "1", of: "orders" })
      assert.deepStrictEqual(yield* order, { carrier: "DHL", trackingNumber: "1" })
      yield* change({ do: "unship", id: "500001", of: "orders" })
      assert.isNull(yield* order)
      yield* change({ do: "profile", id: "1002", cover: "yes", availability: "private" })
      assert.deepInclude((yield* sandbox.state).accounts.find(({ id }) => id === "1002"), {
        photo: false,
        cover: true,
        availability: "private"
      })
    }))

  it.effect("names what is wrong with a change", () =>
    Effect.gen(function*() {
      for (
        const [inputs, status] of [
          [{ do: "stock", id: "0042", stock: "-1", of: "products" }, 400],
          [{ do: "stock", id: "0042", stock: "", of: "products" }, 400],
          [{ do: "stock", id: "none", stock: "1", of: "products" }, 404],
          [{ do: "ship", id: "500001", carrier: "", trackingNumber: "1", of: "orders" }, 400],
          [{ do: "unship", id: "none", of: "orders" }, 404],
          [{ do: "profile", id: "1002", availability: "gone" }, 400],
          [{ do: "profile", id: "none", availability: "private" }, 404]
        ] as const
      ) {
        const reply = yield* submit("/console/state", inputs)
        assert.strictEqual(reply.status, status, JSON.stringify(inputs))
        assert.include(reply.text, `role="alert"`)
      }
    }))
})

/** The cookies that a response sets, as a browser sends them back. */
const cookieOf = ({ headers }: { readonly headers: Readonly<Record<string, string | undefined>> }) => ({
  cookie: (headers["set-cookie"] ?? "").split(";")[0] ?? ""
})

const faults = "/console/faults"

layer(layerInProcess())("the page of faults", (it) => {
  it.effect("shows only the fields of the chosen kind: four first, and the others under More", () =>
    Effect.gen(function*() {
      // Inputs that join two fields, or have a unit of people.
      const inputs = new Map([["method", "path"], ["lastsMillis", "lasts"], ["rate", "share"]])
      for (const { fields } of Fault.members) {
        const kind = fields.kind.literal
        const page = yield* text(`${faults}?kind=${kind}`)
        const [, first = "", more = ""] = /name="do" value="add">([^]*?)(<details>[^]*)<\/form>/.exec(page) ?? []
        const namesIn = (part: string) => [...part.matchAll(/<(?:input|select|textarea) id="\w+" name="(\w+)"/g)].map(([, name]) => name)
        assert.lengthOf(namesIn(first), 4, kind)
        assert.includeMembers(["kind", ...namesIn(first), ...namesIn(more)], Object.keys(fields).map((name) => inputs.get(name) ?? name),
          kind)
        assert.strictEqual(page.includes(`name="status"`), "status" in fields, kind)
        assert.strictEqual(page.includes(`name="outcomes"`), "outcomes" in fields, kind)
      }
      assert.include(yield* text(`${faults}?kind=constructor`), `<option value="status" selected>`)
    }))

  it.effect("adds every kind of fault, changes and removes one, and clears the rest after a question", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      for (
        const inputs of [
          { kind: "delay", when: "before", millis: "1.5" },
          { kind: "delay", when: "after", millis: "300", distribution: "logNormal", spread: "3000", share: "12.5" },
          { kind: "status", when: "before", status: "503", retryAfter: "soon", path: " get  /me ", times: "3", lasts: "1.5" },
          { kind: "drop", when: "after", every: "10", account: "corner-shop" },
          { kind: "cut", when: "before", status: "200", code: "LATER", message: "m" },
          { kind: "slow", when: "before", millis: "20" },
          { kind: "garbage", body: "<html>", contentType: "text/html" },
          { kind: "sequence", outcomes: `[{"kind":"drop","when":"before"},{"kind":"pass"}]` }
        ]
      ) {
        assert.strictEqual(yield* statusOf(faults, { do: "add", ...inputs }), 303, inputs.kind)
      }
      assert.deepStrictEqual((yield* sandbox.faults).map(({ fault }) => ({ ...fault })), [
        { kind: "delay", when: "before", millis: 1.5 },
        { kind: "delay", when: "after", millis: { distribution: "logNormal", median: 300, p99: 3_000 }, rate: 0.125 },
        { kind: "status", when: "before", status: 503, retryAfter: "soon", method: "GET", path: "/me", times: 3, lastsMillis: 1_500 },
        { kind: "drop", when: "after", every: 10, account: "corner-shop" },
        { kind: "cut", when: "before", status: 200, code: "LATER", message: "m" },
        { kind: "slow", when: "before", millis: 20 },
        { kind: "garbage", body: "<html>", contentType: "text/html" },
        { kind: "sequence", outcomes: [{ kind: "drop", when: "before" }, { kind: "pass" }] }
      ])
      for (const { id } of yield* sandbox.faults) {
        const form = yield* text(`${faults}?edit=${id}`)
        assert.include(form, `Change ${id}`)
      }
      const edited = yield* text(`${faults}?edit=fault_2`)
      for (const value of [`value="300"`, `value="3000"`, `<option value="logNormal" selected>`, `<option value="after" selected>`]) {
        assert.include(edited, value)
      }
      assert.strictEqual(yield* statusOf(faults, { do: "replace", id: "fault_2", kind: "drop", when: "before" }), 303)
      const changed = (yield* sandbox.faults)[1]
      assert.deepStrictEqual([String(changed?.id), { ...changed?.fault }], ["fault_2", { kind: "drop", when: "before" }])
      assert.strictEqual(yield* statusOf(faults, { do: "remove", id: "fault_2" }), 303)
      assert.notInclude((yield* sandbox.faults).map(({ id }) => String(id)), "fault_2")
      assert.strictEqual(yield* statusOf(faults, { do: "remove", id: "fault_2" }), 404)
      assert.include((yield* submit(faults, { do: "clear" })).text, "Clear all faults?")
      assert.isNotEmpty(yield* sandbox.faults)
      assert.strictEqual(yield* statusOf(faults, { do: "clear", confirmed: "yes" }), 303)
      assert.deepStrictEqual(yield* sandbox.faults, [])
    }))

  it.effect("keeps the input of a fault that the sandbox refuses", () =>
    Effect.gen(function*() {
      const refused = yield* submit("/console/faults", { do: "add", kind: "status", when: "before", status: "507", account: "nobody" })
      assert.strictEqual(refused.status, 400)
      for (const shown of [`value="507"`, `value="nobody"`, "must be the id or the username of an existing account"]) {
        assert.include(refused.text, shown)
      }
    }))

  it.effect("changes nothing of a fault that is submitted as it is", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const fault = {
        kind: "status",
        when: "before",
        status: 502,
        method: "PUT",
        path: "/a/*",
        body: "",
        times: 3,
        rate: 0.07,
        lastsMillis: 1_001
      } as const
      const id = yield* sandbox.addFault(fault)
      const page = yield* text(`/console/faults?edit=${id}`)
      // What a browser submits of the form.
      const selects = [...page.matchAll(/<select[^>]*name="(\w+)"[^]*?<option value="([^"]*)" selected>/g)]
      const inputs = [...page.matchAll(/<input [^>]*name="(\w+)"[^>]* value="([^"]*)">/g)]
      const submitted = Object.fromEntries([...inputs, ...selects].map(([, name = "", value = ""]) => [name, value]))
      assert.deepInclude(submitted, { path: "PUT /a/*", share: "7", lasts: "1.001", emptyBody: "yes" })
      // One of the fields under More has a value.
      assert.include(page, "<details open>")
      assert.strictEqual(yield* statusOf("/console/faults", { ...submitted, do: "replace", id }), 303)
      assert.deepStrictEqual((yield* sandbox.faults).find((active) => active.id === id)?.fault, fault)
      yield* sandbox.removeFault(id)
    }))

  it.effect("names missing and invalid fields", () =>
    Effect.gen(function*() {
      for (
        const [inputs, said] of [
          [{ kind: "delay", when: "before" }, "Delay (ms) must be a number of milliseconds from 0 to 86400000, such as 500"],
          [{ kind: "slow", when: "before", millis: "x" }, "Duration (ms) must be a number of milliseconds"],
          [{ kind: "delay", when: "before", millis: "x", distribution: "uniform", spread: "1" }, "Delay (ms) must be a number"],
          [{ kind: "delay", when: "before", millis: "5", distribution: "uniform", spread: "1" }, "that fits the distribution"],
          [{ kind: "status", when: "before", status: "99" }, "Status must be a whole number from 200 to 599, such as 503"],
          [{ kind: "drop", when: "before", times: "x" }, "Times must be a whole number above 0, such as 3"],
          [{ kind: "drop", when: "before", lasts: "0" }, "Lasts (seconds) must be a number of seconds above 0, such as 60"],
          [{ kind: "drop", when: "before", share: "101" }, "Share of calls (%) must be a number from 0 to 100, such as 10"],
          [{ kind: "drop", when: "before", path: "POST /posts/:id" }, "Method and path must have * in place of :id, such as /posts/*"],
          [{ kind: "drop", when: "before", path: "posts" }, "Method and path must be a method, a path or both, such as POST /posts"],
          [{ kind: "drop", when: "before", account: "nobody" }, "Account must be the id or the username of an existing account"],
          [{ kind: "garbage" }, "Body must be the text that is sent"],
          [{ kind: "sequence", outcomes: "[" }, "Outcomes must be a JSON array"],
          [{ kind: "sequence", outcomes: `[{"kind":"pass"},{"kind":"drop"}]` }, "Outcomes have a wrong outcome at 1"],
          [{ kind: "toString" }, "must be one of status, delay"]
        ] as const
      ) {
        const reply = yield* submit(faults, { do: "add", ...inputs })
        assert.strictEqual(reply.status, 400, said)
        assert.include(reply.text.replaceAll("&quot;", "\""), said)
      }
      // The field with the error is open.
      assert.include((yield* submit(faults, { do: "add", kind: "drop", when: "before", account: "nobody" })).text, "<details open>")
    }))

  it.effect("offers the endpoints, and other paths too", () =>
    Effect.gen(function*() {
      const page = yield* text(faults)
      assert.match(page, /<input id="path"[^>]* list="paths"/)
      for (const endpoint of ["POST /posts", "PATCH /store/products/*/stock", "GET /users/by-username/*"]) {
        assert.include(page, `<option value="${endpoint}">`)
      }
      const documented = yield* Effect.provide(text(faults), layerInProcess({ assumptions: false }))
      assert.notInclude(documented, `<option value="DELETE /posts/*">`)
    }))

  it.effect("says what an added fault does to the next calls, and from where to send one", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const words = (page: string) => page.replaceAll(/<[^>]*>/g, "").replaceAll("&#39;", "'")
      const message = (inputs: Readonly<Record<string, string>>) =>
        Effect.gen(function*() {
          yield* sandbox.clearFaults
          const { headers } = yield* submit(faults, inputs)
          const page = (yield* request("GET", headers["location"] ?? "", cookieOf({ headers }))).text
          return /<div class="message good" role="status">([^]*?)<\/div>/.exec(page)?.[1] ?? assert.fail("no message")
        })
      for (
        const [inputs, said] of [
          [
            { kind: "status", when: "after", status: "503", path: "POST /posts" },
            "added: the next POST /posts fails with 503 after it is carried out. Send a request from your code, or from the reference."
          ],
          [{ kind: "status", when: "before", status: "302", times: "2" }, "each of the next 2 calls gets 302 before"],
          [{ kind: "drop", when: "after", every: "2" }, "every 2nd call gets no response: the connection closes after it is carried out."],
          [
            { kind: "delay", when: "before", millis: "200", path: "/chat/*", share: "10" },
            "every call of /chat/* by a chance of 10 % is delayed by 200 ms."
          ],
          [{ kind: "cut", when: "after", path: "PATCH", lasts: "42" }, "for 42 s, every PATCH gets half a response"],
          [
            { kind: "garbage", body: "<html>", account: "corner-shop" },
            "the next call of the account corner-shop is carried out, and gets a body that is not JSON. Send a request from your code."
          ]
        ] as const
      ) {
        assert.include(words(yield* message({ do: "add", ...inputs })), said)
      }
      assert.include(yield* message({ do: "add", kind: "drop", when: "after" }), `href="/#first">the home page`)
      assert.include(yield* message({ do: "add", kind: "drop", when: "after", path: "POST /posts/1/like" }),
        `href="/reference/posts#likePost"`)
      assert.match(words(yield* message({ do: "preset", preset: "limit" })), /^Fault fault_\d+ added: the next call fails with 429 before/)
      const [active] = yield* sandbox.faults
      const id = active?.id ?? ""
      const changed = yield* submit(faults, { do: "replace", id, kind: "drop", when: "after" })
      assert.include((yield* request("GET", faults, cookieOf(changed))).text, `Fault ${id} changed: the next call`)
      const removed = yield* submit(faults, { do: "remove", id })
      assert.include((yield* request("GET", faults, cookieOf(removed))).text, `Fault ${id} removed.`)
    }))

  it.effect("names every call, and counts the seconds until a fault ends", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.clearFaults
      yield* sandbox.addFault({ kind: "status", when: "before", status: 503, lastsMillis: 60_000 })
      yield* sandbox.addFault({ kind: "drop", when: "before", path: "/chat/*", times: 2 })
      assert.include(yield* text(faults), "every call</td>")
      assert.include(yield* text(faults), "every call of <code>/chat/*</code>")
      assert.include(yield* text(faults), ">2 calls<")
      yield* TestClock.adjust("17800 millis")
      assert.include(yield* text(faults), ">ends in 43 s<")
      yield* sandbox.advanceClock("42 seconds")
      assert.include(yield* text(faults), ">ends in 1 s<")
      yield* sandbox.advanceClock("1 second")
      assert.notInclude(yield* text(faults), "ends in")
      yield* sandbox.clearFaults
    }))

  it.effect("adds presets, and ends the outage after a minute", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.clearFaults
      const preset = (name: string) => statusOf(faults, { do: "preset", preset: name })
      const names = [...(yield* text(faults)).matchAll(/name="preset" value="(\w+)"/g)].map(([, name = ""]) => name)
      assert.includeMembers(names, ["tenth", "outage", "limit", "network"])
      for (const name of names) {
        assert.strictEqual(yield* preset(name), 303, name)
      }
      yield* sandbox.clearFaults
      yield* preset("outage")
      assert.strictEqual((yield* call("GET", "/me")).status, 503)
      yield* TestClock.adjust("59 seconds")
      assert.strictEqual((yield* call("GET", "/me")).status, 503)
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* call("GET", "/me")).status, 200)
      assert.strictEqual(yield* preset("constructor"), 400)
    }))
})

const behaviour = "/console/behaviour"

layer(layerInProcess({ assumptions: { dailyQuota: 7_777 } }))("the page of behaviour", (it) => {
  it.effect("advances the clock and never sets it back", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const advance = (forward: string, unit: string) => statusOf(behaviour, { do: "advance", forward, unit })
      assert.strictEqual(yield* advance("2", "days"), 303)
      assert.strictEqual((yield* sandbox.clock).aheadMillis, 2 * 24 * 3_600_000)
      assert.include(yield* text(behaviour), "2d ahead")
      for (
        const [forward, unit] of [["-1", "days"], ["0", "days"], ["", "days"], ["x", "hours"], ["1", "years"], ["9999999", "days"]] as const
      ) {
        assert.strictEqual(yield* advance(forward, unit), 400, forward)
      }
    }))

  it.effect("changes fields of the latitude, draws one, and restores that of the start", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const before = yield* sandbox.latitude
      const page = yield* text(behaviour)
      for (const name of Object.keys(before)) {
        assert.include(page, ` name="${name}"`)
      }
      const change = { createStatus: "201", requestId: "false", dailyQuota: "9", keyPrefix: "123", text: `["trimmed"]`, stock: `"null"` }
      assert.strictEqual(yield* statusOf(behaviour, { do: "latitude", ...change }), 303)
      assert.deepStrictEqual(yield* sandbox.latitude, {
        ...before,
        createStatus: 201,
        requestId: false,
        dailyQuota: 9,
        keyPrefix: "123",
        text: ["trimmed"],
        stock: "null"
      })
      assert.include(yield* text(behaviour), "6 of 55 fields differ")
      const refused = yield* submit(behaviour, { do: "latitude", listLagMillis: "soon" })
      assert.strictEqual(refused.status, 400)
      assert.include(refused.text, "listLagMillis must be a whole number")
      assert.strictEqual(yield* statusOf(behaviour, { do: "seed", seed: "42" }), 303)
      const drawn = yield* sandbox.latitude
      assert.deepStrictEqual(yield* sandbox.setLatitude(42), drawn)
      assert.strictEqual(yield* statusOf(behaviour, { do: "seed", seed: "x" }), 400)
      assert.strictEqual(yield* statusOf(behaviour, { do: "restore" }), 303)
      assert.deepStrictEqual(yield* sandbox.latitude, before)
    }))

  it.effect("tries another service in one click, lists how it differs, and resets to the default in one", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const words = (page: string) => page.replaceAll(/<[^>]*>/g, "").replaceAll("&quot;", "\"")
      assert.include(yield* text(behaviour), "All 55 fields have their default")
      assert.notInclude(yield* text(behaviour), "Reset to the default")
      assert.strictEqual(yield* statusOf(behaviour, { do: "another" }), 303)
      const drawn = yield* sandbox.latitude
      const page = yield* text(behaviour)
      const differing = Object.entries(drawn).filter(([name, value]) =>
        JSON.stringify(value) !== JSON.stringify(Latitude.defaults[name as keyof Latitude.Latitude])
      )
      assert.isAbove(differing.length, 5)
      assert.include(words(page), `${differing.length} of 55 fields differ from the default.`)
      const table = /aria-label="Differences from the default, table"[^]*?<\/table>/.exec(page)?.[0] ?? ""
      assert.deepStrictEqual([...table.matchAll(/<th scope="row"><code>(\w+)/g)].map(([, name]) => name), differing.map(([name]) => name))
      // The seed repeats it.
      const seed = /Drawn from the seed <strong>(\d+)</.exec(page)?.[1] ?? assert.fail("no seed")
      assert.deepStrictEqual(Latitude.fromSeed(Number(seed)), drawn)
      assert.strictEqual(yield* statusOf(behaviour, { do: "default" }), 303)
      assert.deepStrictEqual(yield* sandbox.latitude, Latitude.defaults)
      yield* statusOf(behaviour, { do: "seed", seed })
      assert.deepStrictEqual(yield* sandbox.latitude, drawn)
      yield* sandbox.setLatitude({ json: drawn.json === "plain" ? "indented" : "plain" })
      assert.notInclude(yield* text(behaviour), "Drawn from the seed")
      yield* sandbox.setLatitude({ ...Latitude.defaults, listLagMillis: 700 })
      const row = /<tr><th scope="row"><code>listLagMillis[^]*?<\/tr>/.exec(yield* text(behaviour))?.[0] ?? ""
      assert.strictEqual(
        words(row.replaceAll("</td>", " | ").replaceAll("</th>", " | ")),
        "listLagMillis | milliseconds after its commit until a post appears in GET /me/posts | 0 | 700 | "
      )
      assert.notMatch(words(/<section aria-labelledby="variant"[^]*?<\/section>/.exec(yield* text(behaviour))?.[0] ?? "latitude"),
        /latitude/i)
      yield* sandbox.setLatitude(Latitude.defaults)
    }))

  it.effect("shows the assumptions, and those that differ from the default", () =>
    Effect.gen(function*() {
      const page = yield* text(behaviour)
      assert.match(page, /<code>7777<\/code> <span class="badge note">changed/)
      assert.strictEqual(page.split(">changed<").length, 2)
      assert.include(page, "refusals.order")
    }))
})

layer(layerInProcess({ latitude: 42 }))("the page of behaviour of a sandbox with a service variant", (it) => {
  it.effect("names the seed of the start, and can go to the default and back", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      assert.include(yield* text(behaviour), "plaza sandbox start --latitude 42")
      yield* submit(behaviour, { do: "default" })
      assert.deepStrictEqual(yield* sandbox.latitude, Latitude.defaults)
      assert.include(yield* text(behaviour), "Restore the one of the start")
      yield* submit(behaviour, { do: "restore" })
      assert.deepStrictEqual(yield* sandbox.latitude, Latitude.fromSeed(42))
    }))
})

layer(layerInProcess())("the page of snapshots", (it) => {
  it.effect("saves, and asks before it restores, removes or resets", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const path = "/console/snapshots"
      assert.include(yield* text(path), "No snapshots yet.")
      assert.strictEqual(yield* statusOf(path, { do: "save", name: "a b" }), 400)
      assert.strictEqual(yield* statusOf(path, { do: "save", name: "mine" }), 303)
      yield* sandbox.createAccount({ username: "later" })
      const names = Effect.map(sandbox.state, ({ accounts }) => accounts.map(({ username }) => String(username)))
      assert.include((yield* submit(path, { do: "restore", name: "mine" })).text, "Restore this snapshot?")
      assert.include(yield* names, "later")
      assert.strictEqual(yield* statusOf(path, { do: "restore", name: "mine", confirmed: "yes" }), 303)
      assert.notInclude(yield* names, "later")
      yield* sandbox.createAccount({ username: "later" })
      assert.include((yield* submit(path, { do: "reset" })).text, "Reset the sandbox?")
      assert.strictEqual(yield* statusOf(path, { do: "reset", confirmed: "yes" }), 303)
      assert.notInclude(yield* names, "later")
      assert.strictEqual(yield* statusOf(path, { do: "remove", name: "mine", confirmed: "yes" }), 303)
      assert.deepStrictEqual(yield* sandbox.snapshots, [])
    }))
})

/** The fields of an archive that the test reads. */
const HttpArchive = Schema.Struct({
  log: Schema.Struct({
    entries: Schema.Array(Schema.Struct({
      request: Schema.Struct({
        method: Schema.String,
        url: Schema.String,
        queryString: Schema.Array(Schema.Struct({ name: Schema.String, value: Schema.String })),
        postData: Schema.optional(Schema.Struct({ text: Schema.String }))
      }),
      response: Schema.Struct({ status: Schema.Int })
    }))
  })
})

layer(layerInProcess())("the export of requests", (it) => {
  it.effect("is an HTTP Archive without keys, of the filtered requests", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const form = new FormData()
      form.append("file", new Blob(["x"], { type: "image/png" }), "tea.png")
      yield* call("GET", "/me/posts?limit=1")
      yield* call("POST", "/posts", { json: { text: Redacted.value(sandbox.apiKey) } })
      yield* call("POST", "/media", { form })
      yield* call("POST", "/posts", { key: null, json: { text: "x" } })
      yield* sandbox.addFault({ kind: "drop", when: "before" })
      yield* Effect.ignore(call("GET", "/me"))
      const har = yield* request("GET", "/console/requests.har")
      assert.include(har.headers["content-disposition"] ?? "", "attachment")
      // The validator takes any value: the type of its parameter is what it checks.
      assert.deepStrictEqual(yield* Effect.promise(() => new HarValidator().verify(har.json as never)), [])
      const { log: { entries } } = Schema.decodeUnknownSync(HttpArchive)(har.json)
      assert.deepStrictEqual(entries.map(({ request, response }) => [request.method, response.status]), [
        ["GET", 200],
        ["POST", 200],
        ["POST", 200],
        ["POST", 401],
        ["GET", 0]
      ])
      assert.deepInclude(entries[0]?.request, {
        url: `${sandbox.baseUrl}/me/posts?limit=1`,
        queryString: [{ name: "limit", value: "1" }]
      })
      assert.strictEqual(entries[1]?.request.postData?.text, `{"text":"key_***"}`)
      assert.notInclude(har.text, Redacted.value(sandbox.apiKey).slice(4))
      const filtered = yield* request("GET", "/console/requests.har?status=4")
      assert.lengthOf(Schema.decodeUnknownSync(HttpArchive)(filtered.json).log.entries, 1)
    }))
})

layer(layerInProcess())("the worlds", (it) => {
  it.effect("are made, shown and removed, and the header names the one that is shown", () =>
    Effect.gen(function*() {
      const { baseUrl, worlds } = yield* Sandbox.Sandbox
      assert.notInclude(yield* text("/console"), "World:")
      assert.strictEqual(yield* statusOf("/console/worlds", { do: "make", id: "checkout" }), 303)
      assert.strictEqual(yield* statusOf("/console/worlds", { do: "make", id: "" }), 303)
      assert.deepStrictEqual((yield* worlds.list).map(({ id }) => id), ["checkout", "w1"])
      const list = yield* text("/console/worlds")
      for (const shown of [baseUrl, baseUrl.replace("/open/v1", "/worlds/checkout/open/v1"), "World: main"]) assert.include(list, shown)

      yield* call("GET", "/me")
      const shown = cookieOf(yield* submit("/console/worlds", { do: "show", id: "checkout" }))
      const page = yield* request("GET", "/console", shown)
      assert.include(page.text, "World: checkout")
      assert.include(page.text, "No requests yet.")
      assert.include((yield* request("GET", "/", shown)).text, baseUrl.replace("/open/v1", "/worlds/checkout/open/v1"))
      // A form of this page acts on the world that is shown.
      assert.strictEqual((yield* submit("/console/snapshots", { do: "save", name: "here" }, shown)).status, 303)
      assert.include((yield* request("GET", "/console/snapshots", shown)).text, "here")
      assert.notInclude(yield* text("/console/snapshots"), "here</code>")
      const main = cookieOf(yield* submit("/console/worlds", { do: "show", id: "" }, shown))
      assert.include((yield* request("GET", "/console", main)).text, "World: main")

      // The address of a world opens its pages.
      const opened = yield* request("GET", "/worlds/w1/")
      assert.strictEqual(opened.headers["location"], "/")
      assert.include((yield* request("GET", "/console", cookieOf(opened))).text, "World: w1")

      // By the page of the world itself.
      assert.include((yield* request("GET", "/console/worlds", shown)).text, "World: checkout")
      assert.strictEqual((yield* submit("/console/worlds", { do: "remove", id: "checkout", confirmed: "yes" }, shown)).status, 303)
      assert.deepStrictEqual((yield* worlds.list).map(({ id }) => id), ["w1"])
      // Of a world that is gone, the pages are those of the main sandbox.
      assert.include((yield* request("GET", "/console", shown)).text, "World: main")
    }))

  it.effect("explains a wrong name and one that is in use, and keeps what was entered", () =>
    Effect.gen(function*() {
      const wrong = yield* submit("/console/worlds", { do: "make", id: "Not Valid" })
      assert.strictEqual(wrong.status, 400)
      for (const shown of ["lower-case letters", `value="Not Valid"`]) assert.include(wrong.text, shown)
      yield* submit("/console/worlds", { do: "make", id: "taken" })
      const again = yield* submit("/console/worlds", { do: "make", id: "taken" })
      assert.strictEqual(again.status, 409)
      assert.include(again.text, "already")
      assert.strictEqual(yield* statusOf("/console/worlds", { do: "show", id: "gone" }), 404)
    }))
})
