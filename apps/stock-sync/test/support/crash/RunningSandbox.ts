/** The sandbox process as the test sees it: its address, what it holds, the requests and writes, its faults and its latitude. */
import { ControlApi, type Fault, type Latitude, type RequestRecord } from "@plaza/sandbox"
import { DateTime, Effect, Option, Schema, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { type ChildProcess, spawn } from "node:child_process"
import { execPath } from "node:process"
import { fileURLToPath } from "node:url"
import type { Write } from "./Feed.ts"

const Address = Schema.fromJsonString(Schema.Struct({ baseUrl: Schema.String, origin: Schema.String, apiKey: Schema.String }))
const StockPayload = Schema.Struct({ stock: Schema.Finite })

const exited = (child: ChildProcess) =>
  Effect.callback<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
  })

const firstLine = (child: ChildProcess) =>
  Effect.callback<string>((resume) => {
    child.stdout?.once("data", (line: Buffer) => resume(Effect.succeed(line.toString())))
    child.once("exit", (status) => resume(Effect.die(new Error(`the sandbox ended with ${status} before it opened`))))
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
      (child) => Effect.andThen(Effect.sync(() => child.kill("SIGKILL")), exited(child))
    )
    const { apiKey, baseUrl, origin } = yield* Schema.decodeEffect(Address)(yield* firstLine(child))
    const control = yield* HttpApiClient.make(ControlApi, { baseUrl: origin })
    let last = "req_0"
    /** Requests since the last look that counts. The sandbox keeps more than the program can send meanwhile. */
    const requestsSince: Effect.Effect<ReadonlyArray<RequestRecord>> = Effect.suspend(() => control.requests({ query: { after: last } }))
      .pipe(
        Effect.orDie,
        Effect.map((page) => "data" in page ? page.data : [])
      )

    return {
      env: { PLAZA_BASE_URL: baseUrl, PLAZA_API_KEY: apiKey },
      stock: Effect.orDie(Effect.map(control.state(), ({ products }) => new Map(products.map(({ id, stock }) => [String(id), stock])))),
      requestsSince,
      /** The same, and the next ones are those that come from now on. */
      requests: Effect.tap(requestsSince, (records) =>
        Effect.sync(() => {
          last = records.at(-1)?.id ?? last
        })),
      addFault: (payload: Fault) => Effect.orDie(control.addFault({ payload })),
      /** Ends them. Returns how many requests they hit. */
      clearFaults: Effect.tap(
        Effect.map(control.listFaults(), ({ data }) => data.reduce((hits, fault) => hits + fault.hits, 0)),
        () => control.clearFaults()
      ).pipe(Effect.orDie),
      setLatitude: (change: Latitude.Change) => Effect.orDie(control.setLatitude({ payload: change })),
      /** Every write that was carried out, in the order in which they were sent. */
      writes: Stream.paginate("commit_0",
        (after: string) =>
          Effect.map(control.commits({ query: { after } }), ({ data, next }) => [data, Option.fromNullishOr(next)] as const)).pipe(
          Stream.runCollect,
          Effect.map((commits) =>
            commits
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
