/**
 * Requests of every kind, most of them invalid, over raw sockets: every response is one of the document, and the
 * sandbox keeps working. `PLAZA_FUZZ_REQUESTS` is their number (default: 2,000), `PLAZA_FUZZ_SEED` the seed; the same seed
 * sends the same requests.
 */
import { assert, describe, it } from "@effect/vitest"
import { byCode } from "@plaza-legacy/domain/Errors"
import { Config, Effect, FastCheck as fc, Redacted, Schema } from "effect"
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { connect } from "node:net"
import { fileURLToPath } from "node:url"
import * as Keys from "../src/access/Keys.ts"
import { type Fuzzed, requests } from "./fuzzRequests.ts"

const told = Config.all({
  total: Config.withDefault(Config.integer("PLAZA_FUZZ_REQUESTS"), 2_000),
  seed: Config.withDefault(Config.integer("PLAZA_FUZZ_SEED"), 20_261_002)
})

const batch = 250
const atATime = 16
const mebibyte = 1024 * 1024
/** Maximum growth of memory from the first quarter to the end, with nothing stored. */
const mostGrowth = { heapUsed: 8 * mebibyte, rss: 64 * mebibyte }

const Address = Schema.Struct({ baseUrl: Schema.String })
const Memory = Schema.Struct({ heapUsed: Schema.Number, rss: Schema.Number })

const start = Effect.acquireRelease(
  Effect.sync(() =>
    fork(fileURLToPath(new URL("fixtures/fuzzed.ts", import.meta.url)), {
      execArgv: ["--expose-gc", "--conditions=@plaza/source"]
    })
  ),
  (child) => Effect.sync(() => child.kill("SIGKILL"))
)
const hear = <A, I>(child: ChildProcess, schema: Schema.Schema<A, I>) =>
  Effect.flatMap(
    Effect.promise(() => once(child, "message")),
    ([message]: ReadonlyArray<unknown>) => Schema.decodeUnknown(schema)(message)
  )

/** Everything that was received. A caller that closes the connection at once does not wait. */
const send = (port: number, { bytes, end }: Fuzzed): Promise<string> =>
  new Promise((tell) => {
    let received = ""
    const socket = connect(port, "127.0.0.1", () => {
      if (end === "half") {
        socket.end(bytes)
      } else {
        socket.write(bytes, () => end === "cut" && socket.destroy())
      }
    })
    // The refusal may arrive, and the connection close, before the whole request was read.
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1")
    }).on("error", () => {}).on("close", () => {
      tell(received)
    })
  })

const Envelope = Schema.parseJson(Schema.Struct({ error: Schema.Struct({ code: Schema.String, message: Schema.NonEmptyString }) }))
const readEnvelope = Schema.decodeUnknownSync(Envelope)
const isKnown = (code: string): code is keyof typeof byCode => Object.hasOwn(byCode, code)

/** The statuses of the responses, each checked against the document. */
const judge = (received: string, isHead: boolean): ReadonlyArray<number> => {
  const statuses: Array<number> = []
  let rest = received
  while (rest !== "") {
    const head = /^HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n/.exec(rest)
    assert.isNotNull(head, rest.slice(0, 300))
    const status = Number(head?.[1])
    const [whole = ""] = head ?? []
    rest = rest.slice(whole.length)
    // An invalid HTTP request that begins with HEAD gets a response with a body.
    const isBare = isHead && !rest.startsWith("{")
    const length = isBare ? 0 : Number(/\r\ncontent-length: (\d+)\r\n/i.exec(whole)?.[1] ?? 0)
    const body = rest.slice(0, length)
    assert.strictEqual(body.length, length)
    rest = rest.slice(length)
    statuses.push(status)
    // The interim response to an expectation.
    if (status === 100) {
      continue
    }
    assert.include([200, 204, 400, 401, 403, 404, 409, 413], status, body)
    if (status === 200) {
      assert.match(whole, /\r\ncontent-type: application\/json/i)
      JSON.parse(body)
    } else if (status === 204) {
      assert.strictEqual(body, "")
    } else if (!isBare) {
      const { code } = readEnvelope(body).error
      assert.isTrue(isKnown(code), code)
      assert.strictEqual(isKnown(code) ? new byCode[code]({ message: "" }).status : 0, status)
    }
  }
  return statuses
}

describe("any request", () => {
  it.scopedLive("gets a response of the document, and the sandbox keeps working", () =>
    Effect.gen(function*() {
      const { seed, total } = yield* told
      yield* Effect.logInfo(`${total} requests of PLAZA_FUZZ_SEED=${seed}`)
      const child = yield* start
      const { baseUrl } = yield* hear(child, Address)
      const port = Number(new URL(baseUrl).port)
      const arbitrary = requests(Redacted.value(Keys.seeded(1)))
      const seen = new Map<number, number>()

      const ask = (fuzzed: Fuzzed) =>
        Effect.map(Effect.promise(() => send(port, fuzzed)), (received) => {
          const request = `${JSON.stringify(fuzzed.bytes.subarray(0, 2_000).toString("latin1"))} of PLAZA_FUZZ_SEED=${seed}`
          try {
            const statuses = judge(received, fuzzed.bytes.subarray(0, 5).toString() === "HEAD ")
            assert.isTrue(fuzzed.end !== "whole" || statuses.length === 1, `${statuses.length} answers`)
            statuses.forEach((status) => seen.set(status, (seen.get(status) ?? 0) + 1))
          } catch (cause) {
            throw new Error(`${cause instanceof Error ? cause.message : String(cause)} for ${request}: ${received.slice(0, 500)}`, {
              cause
            })
          }
        })
      /** After a reset, because stored data may take memory. */
      const memory = Effect.gen(function*() {
        yield* Effect.promise(() => fetch(new URL("/sandbox/reset", baseUrl), { method: "POST" }))
        yield* Effect.sync(() => child.send("memory"))
        return yield* hear(child, Memory)
      })

      const first = Math.ceil(total / 4 / batch)
      let early = { heapUsed: 0, rss: 0 }
      for (let done = 0; done < total / batch; done++) {
        const fuzzed = fc.sample(arbitrary, { numRuns: batch, seed: seed + done })
        yield* Effect.forEach(fuzzed, ask, { concurrency: atATime, discard: true })
        if (done + 1 === first) {
          early = yield* memory
        }
      }
      const late = yield* memory
      yield* Effect.logInfo(`answers ${JSON.stringify([...seen])}, memory ${JSON.stringify({ early, late })}`)
      for (const status of [200, 400, 401, 404]) {
        assert.isAbove(seen.get(status) ?? 0, 0, `no ${status} among the answers: the requests are not wild enough`)
      }
      assert.isBelow(late.heapUsed - early.heapUsed, mostGrowth.heapUsed)
      assert.isBelow(late.rss - early.rss, mostGrowth.rss)
      assert.isNull(child.exitCode)
      const { status } = yield* Effect.promise(() =>
        fetch(`${baseUrl}/me`, { headers: { authorization: `Bearer ${Redacted.value(Keys.seeded(1))}` } })
      )
      assert.strictEqual(status, 200)
    }), { timeout: 1_200_000 })
})
