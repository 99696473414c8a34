/** The sandbox process as the test sees it: its address, what it holds, the requests and writes, its faults and its latitude. */
import { FetchHttpClient, HttpApiClient, HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { ControlApi, type Fault, type Latitude, type RequestRecord } from "@plaza-legacy/sandbox"
import { Chunk, DateTime, Effect, Option, Schema, Stream } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { execPath } from "node:process"
import { fileURLToPath } from "node:url"
import type { Write } from "./Feed.ts"

const Address = Schema.parseJson(Schema.Struct({ baseUrl: Schema.String, origin: Schema.String, apiKey: Schema.String }))
const StockPayload = Schema.Struct({ stock: Schema.Number })

const exited = (child: ChildProcess) =>
  Effect.async<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
  })

const firstLine = (child: ChildProcess) =>
  Effect.async<string>((resume) => {
    child.stdout?.once("data", (line: Buffer) => resume(Effect.succeed(line.toString())))
    child.once("exit", (status) => resume(Effect.dieMessage(`the sandbox ended with ${status} before it opened`)))
  })

const numberOf = (requestId: string) => Number(requestId.slice("req_".length))

/** A sandbox until the scope ends. It accepts at most so many requests a second. */
export const start = (products: number, limit: number) =>
  Effect.gen(function*() {
    const program = fileURLToPath(new URL("SandboxProcess.ts", import.meta.url))
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(execPath, ["--conditions=@plaza/source", program, String(products), String(limit)], {
          stdio: ["ignore", "pipe", "inherit"]
        })
      ),
      (child) => Effect.zipRight(Effect.sync(() => child.kill("SIGKILL")), exited(child))
    )
    const { apiKey, baseUrl, origin } = yield* Schema.decode(Address)(yield* firstLine(child))
    const control = yield* HttpApiClient.make(ControlApi, { baseUrl: origin })
    const http = yield* HttpClient.HttpClient
    let last = "req_0"
    /** Requests since the last look that counts. The sandbox keeps more than the program can send meanwhile. */
    const requestsSince: Effect.Effect<ReadonlyArray<RequestRecord>> = Effect.suspend(() =>
      control.requests({ urlParams: { after: last } })
    ).pipe(
      Effect.orDie,
      Effect.map((page) => "data" in page ? page.data : [])
    )

    return {
      env: { PLAZA_BASE_URL: baseUrl, PLAZA_API_KEY: apiKey },
      stock: Effect.orDie(Effect.map(control.state(), ({ products }) => new Map(products.map(({ id, stock }) => [String(id), stock])))),
      requestsSince,
      /** The same, and the next ones are those that come from now on. */
      requests: Effect.tap(requestsSince, (records) => {
        last = records.at(-1)?.id ?? last
      }),
      // The derived client takes one kind of fault at a time, and which one it is isn't known here.
      addFault: (fault: Fault) =>
        http.execute(HttpClientRequest.bodyUnsafeJson(HttpClientRequest.post(`${origin}/sandbox/faults`), fault)).pipe(
          Effect.flatMap(HttpClientResponse.filterStatusOk),
          Effect.orDie
        ),
      /** Ends them. Returns how many requests they hit. */
      clearFaults: Effect.zipLeft(
        Effect.map(control.listFaults(), ({ data }) => data.reduce((hits, fault) => hits + fault.hits, 0)),
        control.clearFaults()
      ).pipe(Effect.orDie),
      setLatitude: (change: Latitude.Change) => Effect.orDie(control.setLatitude({ payload: change })),
      /** Every write that was carried out, in the order in which they were sent. */
      writes: Stream.paginateChunkEffect("commit_0",
        (after) =>
          Effect.map(control.commits({ urlParams: { after } }),
            ({ data, next }) => [Chunk.unsafeFromArray(data), Option.fromNullable(next)])).pipe(
          Stream.runCollect,
          Effect.map((commits) =>
            Array.from(commits)
              .toSorted((one, other) => numberOf(one.requestId) - numberOf(other.requestId))
              .map(({ at, isLate, params, payload }): Write => ({
                product: params["id"] ?? "",
                stock: Schema.decodeUnknownSync(StockPayload)(payload).stock,
                at: DateTime.toEpochMillis(at),
                isLate
              }))
          ),
          Effect.orDie
        )
    }
  }).pipe(Effect.orDie, Effect.provide(FetchHttpClient.layer))
