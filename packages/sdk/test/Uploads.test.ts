/** Uploads from every kind of content, on a sandbox in process and over the HTTP of Node. */
import { startSandbox } from "@plaza/sandbox/promise"
import { createPlaza, type Upload } from "@plaza/sdk"
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Readable } from "node:stream"
import { describe, expect, it } from "vitest"
import { createPlaza as createOnFetch } from "../src/index.ts"
import { failureOf } from "./support/Outcome.ts"
import { start } from "./support/Start.ts"

const bytes = new Uint8Array(200_000).map((_, index) => index % 251)

const pieces = async function*() {
  yield bytes.subarray(0, 70_000)
  yield await Promise.resolve(bytes.subarray(70_000))
}
const webStream = () => new Blob([bytes]).stream()

const contents: Readonly<Record<string, () => Upload["content"]>> = {
  bytes: () => bytes,
  "a Buffer": () => Buffer.from(bytes),
  "a Blob": () => new Blob([bytes]),
  "a File": () => new File([bytes], "other.txt"),
  "an async generator": () => pieces(),
  "a stream of Node": () => Readable.from(pieces()),
  "a web stream": () => webStream(),
  "a function that returns a generator": () => pieces,
  "a function that returns a web stream": () => webStream
}
const canRepeat = (name: string) => !/^(an? (async|stream|web))/.test(name)

for (const isOnSocket of [false, true]) {
  const http = isOnSocket ? "the HTTP of Node" : "a sandbox in process"
  describe(`by ${http}`, () => {
    for (const [name, content] of Object.entries(contents)) {
      it(`uploads ${name}, and ${canRepeat(name) ? "sends it again" : "can't send it again"} after a failure`, async () => {
        await using sandbox = await startSandbox(isOnSocket ? { port: 0 } : {})
        const { apiKey, baseUrl, fetch } = sandbox
        await using plaza = createPlaza({ apiKey, baseUrl, retry: { delay: 1 }, ...(isOnSocket ? {} : { fetch }) })
        const sizeOf = async (id: string) => (await sandbox.state()).media.find((file) => file.id === id)
        const { mediaId } = await plaza.media.upload({ fileName: "cup.png", content: content() })
        expect(await sizeOf(mediaId)).toMatchObject({ name: "cup.png", contentType: "image/png", size: bytes.length })

        await sandbox.addFault({ kind: "status", when: "after", status: 503 })
        const again = plaza.media.upload({ fileName: "cup.png", content: content() })
        const ended = canRepeat(name) ? await sizeOf((await again).mediaId) : await failureOf(again)
        expect(ended).toMatchObject(canRepeat(name) ? { size: bytes.length } : { status: 503, mayHaveHappened: true, attempts: 1 })
      })
    }
  })
}

it("the type of a Blob is that of the file, unless the options name one", async () => {
  await using started = await start()
  const { plaza, sandbox } = started
  const blob = new Blob([bytes], { type: "image/webp" })
  await plaza.media.upload({ fileName: "cup", content: blob })
  await plaza.media.upload({ fileName: "cup", content: blob, contentType: "image/avif" })
  expect((await sandbox.state()).media.slice(-2).map(({ contentType }) => contentType)).toEqual(["image/webp", "image/avif"])
})

it("progress counts the bytes of each attempt", async () => {
  await using started = await start({ retry: { delay: 1 } })
  const { plaza, sandbox } = started
  await sandbox.addFault({ kind: "status", when: "after", status: 503 })
  const seen: Array<number> = []
  await plaza.media.upload({ fileName: "cup.png", content: bytes, onProgress: (sent) => void seen.push(sent) })
  expect(seen.filter((sent) => sent === bytes.length)).toHaveLength(2)
})

it("an error of a source, or of its function, is that of the call", async () => {
  await using started = await start()
  const { plaza, sandbox } = started
  const broken = new Error("the disk is gone")
  const failing = async function*() {
    yield bytes
    await Promise.reject(broken)
  }
  await expect(plaza.media.upload({ fileName: "a.png", content: failing() })).rejects.toBe(broken)
  await expect(plaza.media.upload({ fileName: "a.png", content: failing })).rejects.toBe(broken)
  await expect(plaza.media.upload({
    fileName: "a.png",
    content: () => {
      throw broken
    }
  })).rejects.toBe(broken)
  expect((await sandbox.state()).media.filter(({ name }) => name === "a.png")).toEqual([])
})

it("a stream of Node that fails before it is read ends the call, not the process", async () => {
  await using started = await start({ rateLimit: 1, logger: () => {} })
  const { plaza } = started
  const missing = () => createReadStream("/no/such/file")
  await expect(plaza.media.upload({ fileName: "a.png", content: missing() })).rejects.toMatchObject({ code: "ENOENT" })
  await plaza.profiles.me({ maxWait: 0 }).catch(() => {})
  const content = missing()
  const closed = new Promise<void>((resolve) => void content.on("close", resolve))
  // It is not read at all.
  expect(await failureOf(plaza.media.upload({ fileName: "a.png", content }, { maxWait: 0 }))).toMatchObject({
    _tag: "RateLimitWaitExceeded"
  })
  await closed
})

it("a stream of other things than bytes, and a function that returns no stream, are refused", async () => {
  await using started = await start()
  const { plaza, sandbox } = started
  // Not of these types: code without types can pass anything.
  const wrong: ReadonlyArray<unknown> = [
    () => Readable.from(["text"]),
    Readable.from(["text"]),
    () => Promise.reject(new Error("async")),
    () => Promise.resolve(pieces()),
    () => bytes
  ]
  for (const content of wrong) {
    const failure = await failureOf(plaza.media.upload({ fileName: "wrong.png", content: content as Uint8Array }))
    expect(failure).toMatchObject({ _tag: "InvalidInput", field: "content", message: expect.stringMatching(/^content must/) as unknown })
  }
  const onProgress = 5 as never
  expect(await failureOf(plaza.media.upload({ fileName: "wrong.png", content: bytes, onProgress }))).toMatchObject({ field: "onProgress" })
  expect(await failureOf(plaza.media.uploadFile("a.png", { onProgress }))).toMatchObject({ field: "onProgress" })
  const { mediaId } = await plaza.media.upload({ fileName: "other.png", content: () => Readable.from([new Uint16Array(3)]), size: 6 })
  const { media } = await sandbox.state()
  expect(media.find(({ id }) => id === mediaId)).toMatchObject({ size: 6 })
  expect(media.filter(({ name }) => name === "wrong.png")).toEqual([])
})

it("what is no content is refused without a request", async () => {
  await using started = await start()
  const { plaza, sandbox } = started
  for (const content of ["text", 5, null, undefined, {}, [1]]) {
    // Not of this type: code without types can pass anything.
    const failure = await failureOf(plaza.media.upload({ fileName: "a.png", content: content as Uint8Array }))
    expect(failure).toMatchObject({
      _tag: "InvalidInput",
      field: "content",
      message: expect.stringMatching(/^content must be bytes, a Blob, a stream/) as unknown
    })
  }
  expect(await failureOf(plaza.media.upload({ fileName: "", content: bytes }))).toMatchObject({ field: "fileName" })
  expect(await sandbox.countRequests()).toBe(0)
})

it("a file is uploaded by its path, where the runtime has files", async () => {
  const folder = mkdtempSync(join(tmpdir(), "plaza-sdk-"))
  try {
    const path = join(folder, "cup.png")
    writeFileSync(path, bytes)
    await using started = await start()
    const { plaza, sandbox } = started
    const { mediaId } = await plaza.media.uploadFile(path)
    expect((await sandbox.state()).media.find(({ id }) => id === mediaId)).toMatchObject({ name: "cup.png", size: bytes.length })
    expect(await failureOf(plaza.media.uploadFile(join(folder, "saucer.png")))).toMatchObject({ _tag: "PlatformError", code: "ENOENT" })
    const { apiKey, baseUrl, fetch } = sandbox
    const page = createOnFetch({ apiKey, baseUrl, fetch })
    expect(await failureOf(page.media.uploadFile(path))).toMatchObject({
      _tag: "InvalidInput",
      field: "path",
      message: expect.stringContaining("upload") as unknown
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
