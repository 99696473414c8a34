/**
 * The files of uploads: their place, the deletion of files of failed uploads, and the
 * constant use of memory.
 */
import { Command, FileSystem, HttpClient, HttpClientRequest } from "@effect/platform"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { assert, describe, it, layer } from "@effect/vitest"
import { Sandbox } from "@plaza-legacy/sandbox"
import { Effect, FastCheck, Fiber, Layer, Redacted, Schedule, Stream, TestClock } from "effect"
import { createHash } from "node:crypto"
import { connect } from "node:net"
import { fileURLToPath } from "node:url"
import { call, field, layerInProcess, layerSocket } from "./support.ts"

const boundary = "the--boundary"
const contentType = `multipart/form-data; boundary=${boundary}`
const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="é.txt"\r\ncontent-type: a/b\r\n\r\n`
const wrap = (content: Uint8Array) => Buffer.concat([Buffer.from(head), content, Buffer.from(`\r\n--${boundary}--\r\n`)])

const send = (bytes: Stream.Stream<Uint8Array>) =>
  Effect.gen(function*() {
    const { apiKey, baseUrl } = yield* Sandbox.Sandbox
    const client = yield* HttpClient.HttpClient
    const response = yield* client.execute(
      HttpClientRequest.post(`${baseUrl}/media`).pipe(
        HttpClientRequest.bearerToken(Redacted.value(apiKey)),
        HttpClientRequest.bodyStream(bytes, { contentType })
      )
    )
    const json = yield* response.json
    return { status: response.status, json }
  })

/** A data file in its own folder, and the content of its folder of uploads. */
const withFolder = <A, E>(use: (data: string, files: Effect.Effect<ReadonlyArray<string>>) => Effect.Effect<A, E, FileSystem.FileSystem>) =>
  Effect.scoped(Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.flatMap(fs.makeTempDirectoryScoped(), (folder) => {
      const data = `${folder}/sandbox.db`
      return use(data, Effect.map(Effect.orDie(fs.readDirectory(`${data}-media`)), (names) => [...names].sort()))
    }))).pipe(Effect.provide(NodeContext.layer))

const eventually = <A, E>(effect: Effect.Effect<A, E>, right: (value: A) => boolean) =>
  effect.pipe(Effect.repeat({ until: right, schedule: Schedule.spaced("5 millis") }))

layer(layerInProcess({ assumptions: { requestsPerWindow: 10_000 } }))("an upload in pieces", (it) => {
  const alike = FastCheck.constantFrom("\r", "\n", "-", "--", "\r\n", "\r\n--", `\r\n--${boundary.slice(0, -1)}`, "\r\n\r\n", "x")
  it.effect.prop("is the same wherever it is split", [
    FastCheck.array(alike, { maxLength: 12 }),
    FastCheck.oneof(FastCheck.constant([1]), FastCheck.array(FastCheck.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 10 }))
  ], ([content, sizes]) =>
    Effect.gen(function*() {
      const file = Buffer.from(content.join(""))
      const body = wrap(file)
      const pieces: Array<Uint8Array> = []
      for (let at = 0; at < body.length;) {
        const size = sizes[pieces.length % sizes.length] ?? 1
        pieces.push(body.subarray(at, at + size))
        at += size
      }
      const { json, status } = yield* send(Stream.rechunk(Stream.fromIterable(pieces), 1))
      assert.strictEqual(status, 200)
      const { media } = yield* (yield* Sandbox.Sandbox).state
      const last: Readonly<Record<string, unknown>> = { ...media.at(-1) }
      assert.deepInclude(last, {
        id: field({ status, headers: {}, text: "", json }, "mediaId"),
        name: "é.txt",
        size: file.length,
        sha256: createHash("sha256").update(file).digest("hex")
      })
    }), { fastCheck: { numRuns: 100 } })
})

describe("an upload in process", () => {
  it.effect("runs on the calling fiber, so that the caller's clock can't overtake it", () =>
    Effect.gen(function*() {
      const { apiKey, baseUrl } = yield* Sandbox.Sandbox
      const client = yield* HttpClient.HttpClient
      const { status } = Effect.runSync(client.execute(
        HttpClientRequest.post(`${baseUrl}/media`).pipe(
          HttpClientRequest.bearerToken(Redacted.value(apiKey)),
          HttpClientRequest.bodyUint8Array(wrap(Buffer.alloc(100_000)), contentType)
        )
      ))
      assert.strictEqual(status, 200)
    }).pipe(Effect.provide(layerInProcess())))
})

describe("the files of uploads", () => {
  it.effect("are beside the data file, unchanged", () =>
    withFolder((data, files) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const seeded = yield* files
        const content = Uint8Array.from({ length: 200_000 }, (_, index) => index * 7 % 256)
        assert.strictEqual((yield* send(Stream.make(wrap(content)))).status, 200)
        const [file = "none", ...others] = (yield* files).filter((name) => !seeded.includes(name))
        assert.deepStrictEqual(others, [])
        assert.isTrue(Buffer.from(content).equals(yield* fs.readFile(`${data}-media/${file}`)))
      }).pipe(Effect.provide(layerInProcess({ data })))
    ))

  it.live("are deleted when the upload is refused or interrupted", () =>
    withFolder((data, files) =>
      Effect.gen(function*() {
        const seeded = yield* files
        const large = Stream.rechunk(Stream.fromIterable([wrap(Buffer.alloc(60_000)).subarray(0, 50_000), Buffer.alloc(200_000)]), 1)
        assert.strictEqual((yield* send(large)).status, 413)
        assert.strictEqual((yield* send(Stream.make(Buffer.from(`${head}never closed`)))).status, 400)
        assert.strictEqual((yield* send(Stream.make(wrap(Buffer.from("a")), wrap(Buffer.from("b"))))).status, 200)
        const tooMany = Buffer.from(`${head}a\r\n${head}b\r\n--${boundary}--`)
        assert.strictEqual((yield* send(Stream.make(tooMany))).status, 400)
        const name = "x".repeat(1_001)
        const form = new FormData()
        form.append("file", new File(["x"], name, { type: "a/b" }))
        assert.strictEqual((yield* call("POST", "/media", { form })).status, 400)
        const givenUp = yield* Effect.fork(send(Stream.concat(Stream.make(Buffer.from(head), Buffer.alloc(10_000)), Stream.never)))
        yield* eventually(files, (now) => now.length === seeded.length + 2)
        yield* Fiber.interrupt(givenUp)
        assert.strictEqual((yield* files).length, seeded.length + 1)
      }).pipe(Effect.provide(layerInProcess({ data, assumptions: { maxFileBytes: 100_000 } })))
    ))

  it.live("are deleted when the connection is lost", () =>
    withFolder((data, files) =>
      Effect.gen(function*() {
        const { apiKey, baseUrl } = yield* Sandbox.Sandbox
        const seeded = yield* files
        const { hostname, port } = new URL(baseUrl)
        const socket = connect(Number(port), hostname)
        socket.write([
          "POST /open/v1/media HTTP/1.1",
          "host: localhost",
          `authorization: Bearer ${Redacted.value(apiKey)}`,
          `content-type: ${contentType}`,
          "content-length: 1000000",
          "",
          `${head}half a`
        ].join("\r\n"))
        yield* eventually(files, (now) => now.length === seeded.length + 1)
        socket.destroy()
        yield* eventually(files, (now) => now.length === seeded.length)
        const { media } = yield* (yield* Sandbox.Sandbox).state
        assert.strictEqual(media.length, 1)
      }).pipe(Effect.provide(layerSocket({ data })))
    ))

  it.effect("are deleted by a reset while a late commit is pending, and kept once it is carried out", () =>
    withFolder((data, files) =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const seeded = yield* files
        const giveUp = Effect.zipRight(
          sandbox.addFault({ kind: "drop", when: "before" }),
          Effect.exit(send(Stream.make(wrap(Buffer.from("a")))))
        )
        yield* giveUp
        assert.strictEqual((yield* files).length, seeded.length + 1)
        yield* sandbox.reset
        assert.strictEqual((yield* files).length, seeded.length)
        yield* giveUp
        yield* TestClock.adjust("300 millis")
        assert.strictEqual((yield* files).length, seeded.length + 1)
        assert.strictEqual((yield* sandbox.state).media.length, 2)
        yield* sandbox.reset
        assert.strictEqual((yield* files).length, seeded.length)
      }).pipe(Effect.provide(layerInProcess({ data, latitude: { lateCommitMillis: 300 } })))
    ))

  it.effect("are deleted by a reset, and files without a row by the next start", () =>
    withFolder((data, files) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        yield* Effect.gen(function*() {
          yield* send(Stream.make(wrap(Buffer.from("a"))))
          assert.strictEqual((yield* files).length, 1)
          yield* (yield* Sandbox.Sandbox).reset
          assert.strictEqual((yield* files).length, 0)
          yield* send(Stream.make(wrap(Buffer.from("b"))))
        }).pipe(Effect.provide(layerInProcess({ data })))
        const kept = yield* files
        const left = (number: string) => kept[0]?.replace(/\d{6}$/, number) ?? "none"
        yield* fs.writeFileString(`${data}-media/${left("000999")}`, "half an upload of a process that was killed")
        yield* Effect.gen(function*() {
          assert.deepStrictEqual(yield* files, kept)
          yield* send(Stream.make(wrap(Buffer.from("c"))))
          assert.deepStrictEqual(yield* files, [...kept, left("001000")])
        }).pipe(Effect.provide(layerInProcess({ data })))
      })
    ))

  it.effect("of a sandbox in memory are in a temporary folder that the first upload creates and that is deleted with it", () =>
    withFolder((data) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = data.slice(0, data.lastIndexOf("/"))
        const before = process.env["TMPDIR"]
        process.env["TMPDIR"] = folder
        yield* Effect.gen(function*() {
          yield* (yield* Sandbox.Sandbox).reset
          assert.deepStrictEqual(yield* fs.readDirectory(folder), [])
          yield* send(Stream.make(wrap(Buffer.from("a"))))
          const [own = "none"] = yield* fs.readDirectory(folder)
          assert.match(own, /^plaza-sandbox-/)
          assert.strictEqual((yield* fs.readDirectory(`${folder}/${own}`)).length, 1)
          yield* (yield* Sandbox.Sandbox).reset
          assert.deepStrictEqual(yield* fs.readDirectory(`${folder}/${own}`), [])
        }).pipe(
          Effect.provide(layerInProcess()),
          Effect.ensuring(Effect.sync(() => {
            if (before === undefined) {
              delete process.env["TMPDIR"]
            } else {
              process.env["TMPDIR"] = before
            }
          }))
        )
        assert.deepStrictEqual(yield* fs.readDirectory(folder), [])
      })
    ))

  it.effect("require a folder: if there is a file instead, the start fails with one sentence", () =>
    withFolder((data) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        yield* fs.writeFileString(`${data}-media`, "a file")
        const error = yield* Effect.flip(Effect.scoped(Layer.build(Sandbox.layerHttpClient({ data }))))
        assert.strictEqual(
          error.message,
          `${data}-media is not a folder, and uploads are stored in a folder beside the data file: move it away or name another data file`
        )
      })
    ))

  for (const [way, name] of [["process", "in process"], ["socket", "over a socket"]] as const) {
    it.live(`of 200 MB take constant memory, ${name}`, () =>
      Effect.gen(function*() {
        const grown = yield* Command.make(
          process.execPath,
          "--expose-gc",
          "--conditions=@plaza/source",
          fileURLToPath(new URL("fixtures/uploads.ts", import.meta.url)),
          way,
          "200"
        ).pipe(Command.stderr("inherit"), Command.string)
        assert.match(grown, /^\d/)
        assert.isBelow(Number(grown), 64)
      }).pipe(Effect.provide(NodeContext.layer)), 600_000)
  }
})
