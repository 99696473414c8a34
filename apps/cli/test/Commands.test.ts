/**
 * Every command of the built program does its work against the sandbox over a socket, and tells it as text and as JSON.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { layer } from "@effect/vitest"
import { OrderId, ProductId } from "@plaza/domain"
import { faultPresets, Sandbox } from "@plaza/sandbox"
import { Effect, FileSystem, Layer, Redacted } from "effect"
import { fileURLToPath } from "node:url"
import { expect } from "vitest"
import { version } from "../src/version.ts"
import { plaza, plazaWith } from "./support/Plaza.ts"

const services = Layer.merge(Sandbox.layerServer({ assumptions: { requestsPerWindow: 10_000, maxFileBytes: 1_000 } }), NodeFileSystem.layer)

const done = (stdout: string) => ({ code: 0, stdout, stderr: "" })
const jsonLines = (text: string): ReadonlyArray<unknown> => text.trim().split("\n").map((line): unknown => JSON.parse(line))
const state = Effect.flatMap(Sandbox.Sandbox, (sandbox) => sandbox.state)

/** The same command as text and as JSON. */
const both = (...argv: ReadonlyArray<string>) => Effect.all([plaza(...argv), plaza(...argv, "--json")], { concurrency: 2 })

const documentation = fileURLToPath(new URL("../../../docs/sandbox.md", import.meta.url))
const folder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "plaza-cli-" }))
const file = (name: string, content: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = `${yield* folder}/${name}`
    yield* fs.writeFileString(path, content)
    return path
  })

layer(services, { excludeTestServices: true })("plaza", (it) => {
  it.effect("me shows the account of the key", () =>
    Effect.gen(function*() {
      expect(yield* both("me")).toEqual([done("id\t1001\nusername\tcorner-shop\n"), done(`{"id":"1001","username":"corner-shop"}\n`)])
    }))

  it.effect("users get and users find show a user by id and by name", () =>
    Effect.gen(function*() {
      const [text, json] = yield* both("users", "get", "1002")
      expect(text.stdout).toMatch(/^id\t1002\nusername\t\S+\n$/)
      expect(jsonLines(json.stdout)).toMatchObject([{ id: "1002" }])
      expect(yield* plaza("users", "find", "corner-shop")).toEqual(done("id\t1001\nusername\tcorner-shop\n"))
    }))

  it.effect("users follow follows, and a second time changes nothing", () =>
    Effect.gen(function*() {
      expect(yield* both("users", "follow", "1005")).toEqual([
        done("The account follows user 1005.\n"),
        done(`{"userId":"1005","following":true}\n`)
      ])
      expect((yield* state).relations).toContainEqual(expect.objectContaining({ from: "1001", to: "1005", follows: true }))
    }))

  it.effect("media upload sends every file, and prints the id of each", () =>
    Effect.gen(function*() {
      const one = yield* file(`o"n\u00e4.txt`, "one")
      const two = yield* file("two.png", "second")
      const { code, stderr, stdout } = yield* plaza("media", "upload", one, two, "--json")
      const before = yield* state
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
      // Uploads run side by side: which is received and printed first is open.
      const received = before.media.slice(-2)
      const idOf = (name: string) => received.find((one) => one.name === name)?.id
      expect(received).toHaveLength(2)
      expect(received).toContainEqual(expect.objectContaining({ name: `o"n\u00e4.txt`, contentType: "text/plain", size: 3 }))
      expect(received).toContainEqual(expect.objectContaining({ name: "two.png", contentType: "image/png", size: 6 }))
      expect(jsonLines(stdout)).toHaveLength(2)
      expect(jsonLines(stdout)).toContainEqual({ file: one, mediaId: idOf(`o"n\u00e4.txt`) })
      expect(jsonLines(stdout)).toContainEqual({ file: two, mediaId: idOf("two.png") })
      expect((yield* plaza("media", "upload", one)).stdout).toMatch(/^\S+\t\/.+txt\n$/)
    }))

  it.effect("posts create uploads first, then posts once", () =>
    Effect.gen(function*() {
      const picture = yield* file("a.png", "picture")
      const before = yield* state
      const { code, stdout } = yield* plaza("posts", "create", "--text", "New mugs", "--media", picture, "--media-id",
        before.media[0]?.id ?? "", "--json")
      const after = yield* state
      expect(code).toBe(0)
      expect(after.posts.length).toBe(before.posts.length + 1)
      expect(after.posts.at(-1)).toMatchObject({ text: "New mugs", mediaIds: [before.media[0]?.id, after.media.at(-1)?.id] })
      expect(jsonLines(stdout)).toMatchObject([{ id: after.posts.at(-1)?.id, text: "New mugs" }])
      expect((yield* plaza("posts", "create", "--text=--json")).stdout).toMatch(/^id\t\d+\ncreated\t\S+Z\ntext\t--json\n$/)
    }))

  it.effect("posts create takes media without a text, and refuses a post with neither before anything is sent", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const picture = yield* file("b.png", "picture")
      const { code, stdout } = yield* plaza("posts", "create", "--media", picture)
      const { media, posts } = yield* state
      const id = media.at(-1)?.id ?? ""
      expect(posts.at(-1)).toMatchObject({ text: "", mediaIds: [id] })
      expect(code).toBe(0)
      expect(stdout).toMatch(new RegExp(`^id\\t${posts.at(-1)?.id}\\ncreated\\t\\S+Z\\nmedia\\t${id}\\ntext\\t\\n$`))
      expect((yield* plaza("posts", "create", "--media-id", id, "--json")).code).toBe(0)
      expect((yield* state).posts.at(-1)).toMatchObject({ text: "", mediaIds: [id] })

      const before = (yield* sandbox.requests).length
      for (const env of [{}, { PLAZA_BASE_URL: "", PLAZA_API_KEY: "" }]) {
        expect(yield* plazaWith(["posts", "create"], { env })).toEqual({
          code: 2,
          stdout: "",
          stderr: "plaza: a post requires a text or media: use --text, --media or --media-id\n"
        })
      }
      expect((yield* sandbox.requests).length).toBe(before)
    }))

  it.effect("posts create does not post when an upload fails, and names the media that exist", () =>
    Effect.gen(function*() {
      const one = yield* file("one.png", "1")
      const before = yield* state
      const large = yield* file("large.png", "2".repeat(2_000))
      const create = (...files: ReadonlyArray<string>) =>
        plaza("posts", "create", "--text", "x", ...files.flatMap((file) => ["--media", file]))

      const missing = yield* create(one, `${one}.missing`)
      expect(missing).toEqual({ code: 2, stdout: "", stderr: `plaza: ${one}.missing does not exist: check the path\n` })
      expect((yield* state).media.length).toBe(before.media.length)

      const failed = yield* create(one, large)
      const after = yield* state
      expect(failed).toMatchObject({ code: 2, stdout: "" })
      expect(failed.stderr).toContain(
        `${large} was not uploaded. The post was not created. Use --media-id with the files that are uploaded: ${
          after.media.at(-1)?.id
        } (${one}).`
      )
      expect(after.media.length).toBe(before.media.length + 1)
      expect(after.posts.length).toBe(before.posts.length)
    }))

  it.effect("posts create names the media that are up when the post itself is refused", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const one = yield* file("one.png", "1")
      yield* sandbox.addFault({ kind: "status", when: "before", status: 403, code: "FORBIDDEN", method: "POST", path: "/posts" })
      const { code, stderr } = yield* plaza("posts", "create", "--text", "x", "--media", one, "--json")
      const { media } = yield* state
      expect(code).toBe(4)
      expect(jsonLines(stderr)).toMatchObject([{
        error: { tag: "Forbidden", code: "FORBIDDEN", details: { uploaded: [{ file: one, mediaId: media.at(-1)?.id }] } }
      }])
    }))

  it.effect("posts list prints the 20 newest, as many as are wanted, or all", () =>
    Effect.gen(function*() {
      const { posts } = yield* state
      const newest = posts.filter(({ authorId }) => authorId === "1001").toReversed().map(({ id }) => id)
      const ids = (text: string) =>
        jsonLines(text).map((post) => typeof post === "object" && post !== null && "id" in post ? post.id : undefined)
      const [text, json] = yield* both("posts", "list")
      expect(text.stdout.trim().split("\n").map((line) => line.split("\t")[0])).toEqual(newest.slice(0, 20))
      expect(ids(json.stdout)).toEqual(newest.slice(0, 20))
      expect(ids((yield* plaza("posts", "list", "--limit", "3", "--json")).stdout)).toEqual(newest.slice(0, 3))
      expect(ids((yield* plaza("posts", "list", "--all", "--json")).stdout)).toEqual(newest)
      expect(yield* plaza("posts", "list", "--all", "--limit", "3")).toMatchObject({ code: 2, stdout: "" })
      expect(yield* plaza("posts", "list", "--limit", "0")).toMatchObject({ code: 2, stdout: "" })
    }))

  it.effect("posts like and posts comment act on a post", () =>
    Effect.gen(function*() {
      const id = (yield* state).posts[0]?.id ?? ""
      expect(yield* both("posts", "like", id)).toEqual([done(`The account likes post ${id}.\n`), done(`{"postId":"${id}","liked":true}\n`)])
      expect(yield* both("posts", "comment", id, "--text", "Lovely")).toEqual([
        done(`The comment on post ${id} is created.\n`),
        done(`{"text":"Lovely"}\n`)
      ])
      const { comments, likes } = yield* state
      expect(likes.filter((like) => like.postId === id && like.accountId === "1001").length).toBe(1)
      expect(comments.filter((comment) => comment.postId === id && comment.text === "Lovely").length).toBe(2)
    }))

  it.effect("stories create sends the JSON of a file or of standard input as it is", () =>
    Effect.gen(function*() {
      const path = yield* file("story.json", `\ufeff{"frames":[1,{"a":null}]}`)
      const fromFile = yield* plaza("stories", "create", "--input", path, "--json")
      const fromInput = yield* plazaWith(["stories", "create", "--input", "-"], { stdin: `{"b":"ä"}` })
      expect([fromFile.code, fromInput.code]).toEqual([0, 0])
      expect((yield* state).stories.slice(-2).map(({ payload }) => payload)).toEqual([{ frames: [1, { a: null }] }, { b: "ä" }])
      expect(yield* plazaWith(["stories", "create", "--input", "-"], { stdin: "[1]" })).toEqual({
        code: 2,
        stdout: "",
        stderr: "plaza: standard input must contain a JSON object\n"
      })
    }))

  it.effect("stock set sets the stock of a product, whatever the characters of its id", () =>
    Effect.gen(function*() {
      expect(yield* both("stock", "set", "0042", "7")).toEqual([done("id\t0042\nstock\t7\n"), done(`{"id":"0042","stock":7}\n`)])
      expect((yield* plaza("stock", "set", "CAP/RED L", "0")).code).toBe(0)
      const { products } = yield* state
      expect(products.find(({ id }) => id === ProductId.make("0042"))?.stock).toBe(7)
      expect(products.find(({ id }) => id === ProductId.make("CAP/RED L"))?.stock).toBe(0)
    }))

  it.effect("stock set refuses what is no whole number of pieces before anything is sent, as an import does", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const before = (yield* sandbox.requests).length
      for (const stock of ["abc", "1,5", "1.5", "-1", "9007199254740992"]) {
        expect(yield* plaza("stock", "set", "0042", stock)).toEqual({
          code: 2,
          stdout: "",
          stderr: `plaza: the stock must be a whole number of at least 0, not "${stock}"\n`
        })
      }
      expect((yield* sandbox.requests).length).toBe(before)
    }))

  it.effect("orders ship ships an order", () =>
    Effect.gen(function*() {
      const [first, second] = (yield* state).orders.filter(({ shipment }) => shipment === null)
      const ship = (id = "") => ["orders", "ship", id, "--carrier", "DHL", "--tracking-number", "0034"]
      expect(yield* plaza(...ship(first?.id))).toEqual(done(`id\t${first?.id}\ncarrier\tDHL\ntrackingNumber\t0034\n`))
      expect(jsonLines((yield* plaza(...ship(second?.id), "--json")).stdout)).toEqual([{
        id: second?.id,
        carrier: "DHL",
        trackingNumber: "0034"
      }])
      const shipped = (yield* state).orders.find(({ id }) => id === OrderId.make(first?.id ?? ""))
      expect(shipped?.shipment).toEqual({ carrier: "DHL", trackingNumber: "0034" })
    }))

  it.effect("chat list and chat send list conversations and write into one", () =>
    Effect.gen(function*() {
      const [text, json] = yield* both("chat", "list", "--all")
      expect(text.stdout.trim().split("\n").length).toBe(
        (yield* state).conversations.filter(({ accountId }) => accountId === "1001").length
      )
      expect(jsonLines(json.stdout)[0]).toMatchObject({ id: text.stdout.split("\n")[0] })
      expect(yield* both("chat", "send", "conv_301", "--text", "It is on its way")).toEqual([
        done("The message is sent to conversation conv_301.\n"),
        done(`{"text":"It is on its way"}\n`)
      ])
      expect((yield* state).messages.filter(({ text }) => text === "It is on its way").length).toBe(2)
    }))

  it.effect("a list without items has a note on standard error, with --json and --quiet nothing", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { id } = yield* Effect.orDie(sandbox.createAccount({ username: "newcomer" }))
      const { apiKey } = yield* Effect.orDie(sandbox.createKey(id))
      const env = { PLAZA_API_KEY: Redacted.value(apiKey) }
      const lists = [
        [["posts", "list"], "The account has no posts."],
        [["chat", "list"], "The account has no conversations."],
        [["sandbox", "faults", "list"], "The sandbox has no active faults."],
        [["sandbox", "snapshot", "list"], "The sandbox has no snapshots."],
        [["auth", "list"], "There are no profiles. Run plaza auth login to create one."]
      ] as const
      for (const [argv, note] of lists) {
        expect([argv, yield* plazaWith(argv, { env })]).toEqual([argv, { code: 0, stdout: "", stderr: `${note}\n` }])
        for (const flag of ["--json", "--quiet"]) expect(yield* plazaWith([...argv, flag], { env })).toEqual(done(""))
      }
    }))

  it.effect("--fields selects the fields of each object that --json prints", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const all = jsonLines((yield* plaza("posts", "list", "--limit", "2", "--json")).stdout)
      expect(all).toMatchObject([{ id: expect.any(String) as unknown, text: expect.any(String) as unknown }, {}])
      // The cast is true: see above.
      const posts = all as ReadonlyArray<{ readonly id: string; readonly text: string }>
      const printed = posts.map(({ id, text }) => `${JSON.stringify({ text, id })}\n`).join("")
      expect(yield* plaza("posts", "list", "--limit", "2", "--json", "--fields", "text,id")).toEqual(done(printed))
      expect(yield* plaza("--fields= text , id", "posts", "list", "-jn", "2")).toEqual(done(printed))
      expect(yield* plaza("me", "--fields", "username", "--json")).toEqual(done(`{"username":"corner-shop"}\n`))
      // An item may lack an optional field.
      expect((yield* plaza("media", "upload", yield* file("c.txt", "c"), "--json", "--fields=mediaId")).stdout).toMatch(
        /^\{"mediaId":"[^"]+"\}\n$/
      )

      const before = (yield* sandbox.requests).length
      const refused = [
        [["me", "--json", "--fields", "name"], `"name" is not a field of the output: use one or more of id, username`],
        [["me", "--json", "--fields", "id,,name,x"], `"name" is not a field of the output: use one or more of id, username`],
        [["users", "follow", "1005", "--json", "--fields=id"], `"id" is not a field of the output: use one or more of userId, following`],
        [["me", "--json", "--fields", ""], "--fields requires names, such as id,text"]
      ] as const
      for (const [argv, message] of refused) {
        const { code, stderr, stdout } = yield* plaza(...argv)
        expect({ code, stdout, error: jsonLines(stderr) }).toEqual({
          code: 2,
          stdout: "",
          error: [{ error: { tag: "UsageError", code: null, status: null, message, details: {} } }]
        })
      }
      expect(yield* plaza("me", "--fields", "id")).toEqual({
        code: 2,
        stdout: "",
        stderr: "plaza: --fields selects fields of JSON: add --json\n"
      })
      expect((yield* sandbox.requests).length).toBe(before)
    }))

  it.effect("version prints the version, as --version does", () =>
    Effect.gen(function*() {
      expect(yield* both("version")).toEqual([done(`${version}\n`), done(`{"version":"${version}"}\n`)])
      for (const argv of [["--version"], ["-v"], ["posts", "list", "--version"]])
        expect(yield* plaza(...argv)).toEqual(
          done(`${version}\n`)
        )
    }))

  it.effect("api sends any request and prints the JSON as it comes", () =>
    Effect.gen(function*() {
      const page = yield* plaza("api", "get", "me/posts?limit=1", "--field", "nothing=x y")
      expect(jsonLines(page.stdout)).toMatchObject([{ data: [{ authorId: "1001" }], next_cursor: expect.anything() as unknown }])
      expect(jsonLines((yield* plaza("api", "PATCH", "/store/products/0042/stock", "--field", "stock:=9")).stdout)).toMatchObject([{
        id: "0042",
        stock: 9
      }])
      expect(yield* plaza("api", "PATCH", "/store/products/0042/stock", "--field", "stock=9")).toMatchObject({ code: 2, stdout: "" })
      const input = ["api", "PATCH", "/store/products/0042/stock", "--input", "-"]
      expect(jsonLines((yield* plazaWith([...input, "--json"], { stdin: `{"stock":3}` })).stdout)).toMatchObject([{ stock: 3 }])
      expect(yield* both("api", "POST", "/users/1002/follow")).toEqual([done(""), done("null\n")])
    }))

  it.effect("api --paginate prints every item of a list on a line", () =>
    Effect.gen(function*() {
      const { conversations } = yield* state
      const { stdout } = yield* plaza("api", "GET", "/conversations?limit=2", "--paginate")
      expect(jsonLines(stdout)).toHaveLength(conversations.filter(({ accountId }) => accountId === "1001").length)
    }))

  it.effect("what can't be sent is refused before anything is", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const before = (yield* sandbox.requests).length
      const refused = [
        ["api", "FETCH", "/me"],
        ["api", "GET", "/me", "--input", "-"],
        ["api", "POST", "/me", "--paginate"],
        ["api", "POST", "/me", "--input", "-", "--field", "a=b"],
        ["api", "GET", "/me?a=1", "--field", "a=2"],
        ["api", "GET", "/me", "--header", "Authorization: Bearer x"],
        ["api", "GET", "/me/posts", "--paginate", "--include"],
        ["api", "GET", "/me/posts?cursor=x", "--paginate"],
        ["api", "GET", "/../../sandbox/state"],
        ["users", "get", ".."],
        ["users", "get", ""]
      ]
      for (const { code, stderr, stdout } of yield* Effect.forEach(refused, (argv) => plaza(...argv), { concurrency: 2 })) {
        expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
        expect(stderr).toMatch(/^plaza: .+\n$/)
      }
      expect((yield* sandbox.requests).length).toBe(before)
    }))

  it.effect("sandbox seed adds to a running sandbox what is asked for, or says what can be", () =>
    Effect.gen(function*() {
      const before = yield* state
      expect(yield* plaza("sandbox", "seed", "--people", "3", "--products", "7", "--json")).toEqual(
        done(`{"generated":{"people":3,"products":7}}\n`)
      )
      const after = yield* state
      expect(after.accounts.length - before.accounts.length).toBe(3)
      expect(after.products.length - before.products.length).toBe(7)
      expect(yield* plaza("sandbox", "seed", "--orders", "1")).toEqual(done("Added to the sandbox: 1 orders.\n"))
      expect(yield* plaza("sandbox", "seed")).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/^plaza: nothing to add: use one of --people, /) as unknown
      })
      expect(yield* plaza("sandbox", "seed", "--posts", "-1")).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/^plaza: --posts must be a whole number from 0/) as unknown
      })
    }))

  it.effect("sandbox faults makes calls of a running sandbox go wrong, lists what is still to come and takes it away", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const fault = `{"kind":"status","when":"before","status":403,"method":"GET","path":"/me","times":2}`
      const added = yield* plaza("sandbox", "faults", "add", fault, "--json")
      const [{ id } = { id: "" }] = yield* sandbox.faults
      expect(added).toEqual(done(`{"id":"${id}"}\n`))
      expect((yield* plaza("me")).code).toBe(4)
      expect(yield* both("sandbox", "faults", "list")).toEqual([
        done(`${id}\tstatus 403 before\tGET /me\ttimes 2\t1\t1\n`),
        done(
          `{"id":"${id}","fault":${
            JSON.stringify({ kind: "status", method: "GET", path: "/me", times: 2, when: "before", status: 403 })
          },"hits":1,"remaining":1}\n`
        )
      ])
      expect((yield* plazaWith(["sandbox", "faults", "add", "--input", "-"], { stdin: `{"kind":"drop","when":"after"}` })).code).toBe(0)
      expect(yield* plazaWith(["sandbox", "faults", "add", "--input", "-"], { stdin: "[]" }))
        .toEqual({ code: 2, stdout: "", stderr: "plaza: the fault must be a JSON object\n" })
      expect(yield* sandbox.faults).toHaveLength(2)
      expect(yield* plaza("sandbox", "faults", "remove", id)).toEqual(done(`The fault ${id} is removed.\n`))
      expect(yield* sandbox.faults).toHaveLength(1)
      const again = yield* plaza("sandbox", "faults", "remove", id)
      expect(again.code).toBe(3)
      expect(again.stderr).toContain(id)
      expect(yield* plaza("sandbox", "faults", "clear")).toEqual(done("All faults are removed.\n"))
      expect(yield* sandbox.faults).toEqual([])
    }))

  it.effect("sandbox faults list shows everything that a fault is limited by", () =>
    Effect.gen(function*() {
      const { clearFaults } = yield* Sandbox.Sandbox
      yield* clearFaults
      const fault = { kind: "drop", when: "after", method: "POST", account: "1001", every: 3, rate: 0.5, lastsMillis: 60_000 }
      expect((yield* plaza("sandbox", "faults", "add", JSON.stringify(fault))).code).toBe(0)
      const { stdout } = yield* plaza("sandbox", "faults", "list")
      yield* clearFaults
      expect(stdout).toMatch(/^fault_\d+\tdrop after\tPOST, account 1001\tevery 3, rate 0\.5, lasts 1m\t0\tunlimited\n$/)
    }))

  it.effect("sandbox faults list shows everything that a fault does", () =>
    Effect.gen(function*() {
      const { clearFaults } = yield* Sandbox.Sandbox
      yield* clearFaults
      const faults = [
        { kind: "delay", when: "before", millis: 2000, times: 3 },
        { kind: "delay", when: "after", millis: { distribution: "logNormal", median: 300, p99: 3000 } },
        { kind: "cut", when: "after", status: 502, body: "<h1>Bad\nGateway</h1>", retryAfter: "5" },
        { kind: "sequence", outcomes: [{ kind: "status", when: "before", status: 503 }, { kind: "pass" }, { kind: "drop", when: "after" }] }
      ]
      for (const fault of faults) yield* plaza("sandbox", "faults", "add", JSON.stringify(fault))
      const { stdout } = yield* plaza("sandbox", "faults", "list")
      yield* clearFaults
      expect(stdout.replaceAll(/^fault_\d+\t/gm, "")).toBe([
        "delay before, 2000 ms\tevery call\ttimes 3\t0\t3\n",
        "delay after, median 300 ms, p99 3000 ms\tevery call\t\t0\t1\n",
        `cut 502 after, body "<h1>Bad Gateway</h1>", retryAfter "5"\tevery call\t\t0\t1\n`,
        "sequence: status 503 before; pass; drop after\tevery call\t\t0\t3\n"
      ].join(""))
    }))

  it.effect("sandbox snapshot saves, lists, restores and removes the data of a running sandbox", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const before = yield* state
      const saved = yield* plaza("sandbox", "snapshot", "save", "start", "--json")
      const [snapshot] = yield* sandbox.snapshots
      expect(saved).toEqual(done(`{"saved":"start","rows":${snapshot?.rows ?? 0}}\n`))
      yield* plaza("stock", "set", "0042", "4321")
      expect((yield* plaza("sandbox", "snapshot", "list")).stdout).toMatch(/^start\t\d{4}-.*Z\t\d+\n$/)
      expect(yield* plaza("sandbox", "snapshot", "restore", "start")).toEqual(done("Restored the snapshot start.\n"))
      expect(yield* state).toEqual(before)
      expect(yield* plaza("sandbox", "snapshot", "remove", "start")).toEqual(done("Removed the snapshot start.\n"))
      expect((yield* plaza("sandbox", "snapshot", "restore", "start")).code).toBe(3)
      expect((yield* plaza("sandbox", "snapshot", "save", "two words")).code).toBe(2)
    }))

  it.effect("sandbox faults add takes a preset, which faults list shows", () =>
    Effect.gen(function*() {
      const { clearFaults } = yield* Sandbox.Sandbox
      const { stdout } = yield* plaza("sandbox", "faults", "add", "outage", "--json")
      const list = (yield* plaza("sandbox", "faults", "list")).stdout
      yield* clearFaults
      expect(stdout).toMatch(/^\{"id":"fault_\d+"\}\n$/)
      expect(list).toMatch(/\tstatus 503 before\tevery call\tlasts 1m\t0\tunlimited\n$/)
    }))

  it.effect("the help of sandbox faults add and docs/sandbox.md name every preset", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { stdout } = yield* plaza("sandbox", "faults", "add", "--help")
      const [, help = ""] = /The presets are ([^.]*)\./.exec(stdout.replaceAll(/\s+/g, " ")) ?? []
      const [, docs = ""] = /takes the name of a preset: ([^.]*)\./.exec(yield* fs.readFileString(documentation)) ?? []
      expect(Array.from(help.matchAll(/(\w+) \(/g), ([, name]) => name)).toEqual(Object.keys(faultPresets))
      expect(Array.from(docs.matchAll(/`(\w+)`/g), ([, name]) => name)).toEqual(Object.keys(faultPresets))
    }))

  it.effect("sandbox health prints the seed of a running sandbox, and fails without one", () =>
    Effect.gen(function*() {
      expect(yield* plaza("sandbox", "health", "--json")).toEqual(done(`{"status":"ok","seed":1}\n`))
      const none = yield* plaza("sandbox", "health", "--base-url", "http://127.0.0.1:9/open/v1")
      expect(none).toMatchObject({
        code: 7,
        stdout: "",
        stderr: expect.stringContaining("no sandbox is running at http://127.0.0.1:9") as string
      })
    }))

  it.effect("sandbox reset restores the initial data of a running sandbox", () =>
    Effect.gen(function*() {
      yield* plaza("stock", "set", "0042", "123456")
      expect(yield* plaza("sandbox", "reset", "--json")).toEqual(done(`{"reset":true}\n`))
      expect((yield* state).products.find((product) => product.id === "0042")?.stock).not.toBe(123456)
    }))

  it.effect.each([
    [`{"kind":"explode"}`, /^plaza: "kind" of the fault is invalid: use one of delay, status, /],
    ["{}", /^plaza: "kind" of the fault is invalid: use one of delay, status, /],
    [`{"kind":"status","when":"after"}`, /^plaza: "status" of the fault is missing\n$/],
    [
      `{"kind":"sequence","outcomes":[{"kind":"drop","when":"later"}]}`,
      /^plaza: "outcomes.0.when" of the fault is invalid: must be one of before, after\n$/
    ],
    [`{"kind":"drop","when":"after","tiems":2}`, /^plaza: "tiems" of the fault is invalid: a fault of this kind has no such field\n$/],
    [`{`, /^plaza: the fault is not valid JSON: /],
    ["outagee", /^plaza: "outagee" is neither a JSON object nor a preset: use one of tenth, outage, /]
  ] as const)("sandbox faults add refuses %s and names what is wrong", ([fault, sentence]) =>
    Effect.gen(function*() {
      const { code, stderr } = yield* plaza("sandbox", "faults", "add", fault)
      expect(code).toBe(2)
      expect(stderr).toMatch(sentence)
    }))
})
