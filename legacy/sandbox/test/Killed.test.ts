/**
 * A sandbox that is killed repeatedly during writes of every kind: acknowledged writes
 * are kept, and no write is half done. `PLAZA_KILLS` is the number of kills.
 */
import { FileSystem } from "@effect/platform"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Random, Redacted, Schema } from "effect"
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"
import * as Keys from "../src/access/Keys.ts"
import { StateSnapshot } from "../src/control/StateSnapshot.ts"

const kills = Number(process.env["PLAZA_KILLS"] ?? 20)

interface Server {
  readonly baseUrl: string
  readonly kill: () => void
  readonly ended: Promise<void>
}

/** The server as one bundle, which starts much faster than the sources. */
const bundle = (file: string) =>
  Effect.promise(async () => {
    const built = await rolldown({
      input: fileURLToPath(new URL("fixtures/server.ts", import.meta.url)),
      platform: "node",
      resolve: { conditionNames: ["@plaza/source", "import", "node", "default"] }
    })
    await built.write({ file, format: "esm", codeSplitting: false })
    await built.close()
  })

const start = (program: string, data: string): Effect.Effect<Server> =>
  Effect.async((resume) => {
    const child = spawn(process.execPath, [program, data], { stdio: ["ignore", "pipe", "inherit"] })
    const ended = new Promise<void>((tell) => {
      child.on("exit", () => {
        tell()
      })
    })
    child.stdout.once("data", (line: Buffer) => {
      resume(Effect.succeed({ baseUrl: line.toString().trim(), ended, kill: () => child.kill("SIGKILL") }))
    })
  })

/** The writes that were sent and those that were acknowledged, by their resource. */
class Writes<Value> {
  readonly sent = new Map<string, Value>()
  readonly answered = new Map<string, Value>()
}

interface Write {
  readonly method: string
  readonly path: string
  readonly body: string | FormData
  readonly sent: () => void
  readonly answered: (body: string) => void
}

const json = JSON.stringify

const sha256Of = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

/** All writes over all runs of the sandbox. */
const makeStory = () => {
  const posts = new Writes<null>()
  const stocks = new Writes<number>()
  const shipments = new Writes<string>()
  const uploads = new Writes<string>()
  const tell = <Value>(writes: Writes<Value>, key: string, value: Value) => ({
    sent: () => {
      writes.sent.set(key, value)
    },
    answered: () => {
      writes.answered.set(key, value)
    }
  })
  const post = (number: number): Write => ({
    method: "POST",
    path: "/posts",
    body: json({ text: `post ${number}` }),
    ...tell(posts, `post ${number}`, null)
  })
  const stock = (number: number): Write => ({
    method: "PATCH",
    path: "/store/products/0042/stock",
    body: json({ stock: number }),
    ...tell(stocks, "0042", number)
  })
  const ship = (number: number): Write => {
    const id = String(500_001 + number % 20)
    return {
      method: "POST",
      path: `/store/orders/${id}/ship`,
      body: json({ carrier: "DHL", trackingNumber: id }),
      ...tell(shipments, id, id)
    }
  }
  const upload = (number: number): Write => {
    const bytes = new Uint8Array(1_000 + number * 997 % 300_000).fill(number % 256)
    const body = new FormData()
    body.append("file", new File([bytes], `${number}.bin`, { type: "a/b" }))
    return { method: "POST", path: "/media", body, ...tell(uploads, `${number}.bin`, sha256Of(bytes)) }
  }
  return { posts, stocks, shipments, uploads, kinds: [post, post, stock, ship, upload] }
}
type Story = ReturnType<typeof makeStory>

/** Sends one request after the other until the connection closes. An order ships once, so 409 acknowledges it too. */
const writeOn = async (next: () => Write, baseUrl: string, key: string, onAnswer: () => void): Promise<void> => {
  for (;;) {
    const { answered, body, method, path, sent } = next()
    sent()
    const headers = { authorization: `Bearer ${key}`, ...(typeof body === "string" ? { "content-type": "application/json" } : {}) }
    let reply: { readonly status: number; readonly text: string }
    try {
      const response = await fetch(baseUrl + path, { method, body, headers })
      reply = { status: response.status, text: await response.text() }
    } catch {
      return
    }
    assert.include([200, 409], reply.status, `${path} ${reply.text}`)
    answered(reply.text)
    onAnswer()
  }
}

/** After a kill, acknowledged writes are kept, and every other write is complete or absent. */
const compare = (story: Story, state: StateSnapshot, files: ReadonlyArray<Uint8Array>) => {
  const texts = state.posts.map(({ text }) => text).filter((text) => text.startsWith("post "))
  assert.strictEqual(new Set(texts).size, texts.length)
  for (const text of story.posts.answered.keys()) {
    assert.include(texts, text)
  }
  for (const text of texts) {
    assert.isTrue(story.posts.sent.has(text), text)
  }

  const stock = state.products.find(({ id }) => id === "0042")?.stock
  if (story.stocks.answered.has("0042")) {
    assert.include([story.stocks.answered.get("0042"), story.stocks.sent.get("0042")], stock)
  }

  for (const { id, shipment } of state.orders) {
    if (shipment !== null) {
      assert.isTrue(story.shipments.sent.has(id), id)
      assert.deepStrictEqual(shipment, { carrier: "DHL", trackingNumber: id })
    }
    assert.isTrue(shipment !== null || !story.shipments.answered.has(id), id)
  }

  const uploads = state.media.filter(({ name }) => name.endsWith(".bin"))
  for (const [name, sha256] of story.uploads.answered) {
    assert.strictEqual(uploads.find((one) => one.name === name)?.sha256, sha256, name)
  }
  for (const { name, sha256 } of uploads) {
    assert.strictEqual(story.uploads.sent.get(name), sha256, name)
  }
  // The seeded picture has no file.
  assert.strictEqual(uploads.length, state.media.length - 1)
  assert.sameMembers(files.map(sha256Of), uploads.map(({ sha256 }) => sha256))
}

const readState = Schema.decodeUnknownSync(StateSnapshot)

describe("a sandbox that is killed", () => {
  it.live(`${kills} times amid writes keeps every acknowledged write, and none half done`, () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const data = `${folder}/sandbox.db`
      const program = `${folder}/server.mjs`
      yield* bundle(program)
      const key = Redacted.value(Keys.seeded(1))
      const story = makeStory()
      let number = 0
      for (let life = 0; life <= kills; life++) {
        const server = yield* start(program, data)
        const state = yield* Effect.promise(async () => readState(await (await fetch(new URL("/sandbox/state", server.baseUrl))).json()))
        const names = yield* fs.readDirectory(`${data}-media`)
        compare(story, state, yield* Effect.forEach(names, (name) => fs.readFile(`${data}-media/${name}`)))
        // From the first responses on, so that kills hit the seeding as well as a long run.
        const enough = yield* Random.nextIntBetween(1, 60)
        let answers = 0
        yield* Effect.promise(() =>
          Promise.all(story.kinds.map((kind) =>
            writeOn(() => kind(number++), server.baseUrl, key, () => {
              answers++
              if (answers === enough) {
                server.kill()
              }
            })
          ))
        )
        yield* Effect.promise(() => server.ended)
      }
      // Each run adds its own part.
      assert.isAbove(story.posts.answered.size, kills)
    }).pipe(Effect.scoped, Effect.provide(NodeContext.layer)), 60_000 + kills * 20_000)
})
