/**
 * The shop as the show sees it: its address, what it holds, what was asked of it, and its faults. Knows nothing of what is shown.
 */
import { FetchHttpClient, HttpApiClient, HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import type { Fault } from "@plaza/sandbox/Fault"
import { ControlApi } from "@plaza/sandbox/ControlApi"
import type { RequestRecord } from "@plaza/sandbox/RequestLog"
import Database from "better-sqlite3"
import { Effect, Schema } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { execPath } from "node:process"
import { fileURLToPath } from "node:url"
import type { Applied } from "./Feed.js"

const Address = Schema.parseJson(Schema.Struct({ baseUrl: Schema.String, origin: Schema.String, apiKey: Schema.String }))

const exited = (child: ChildProcess) =>
  Effect.async<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
  })

const spoken = (child: ChildProcess) =>
  Effect.async<string>((resume) => {
    child.stdout?.once("data", (line: Buffer) => resume(Effect.succeed(line.toString())))
    child.once("exit", (status) => resume(Effect.dieMessage(`the shop ended with ${status} before it opened`)))
  })

/** A shop in a data file, open until the scope ends or it is closed. At most so many requests a second are taken. */
export const open = (data: string, products: number, limit: number) =>
  Effect.gen(function*() {
    const program = fileURLToPath(new URL("Shop.ts", import.meta.url))
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(execPath, ["--conditions=@plaza/source", "--import", "tsx", program, data, String(products), String(limit)], {
          stdio: ["ignore", "pipe", "inherit"]
        })
      ),
      (child) => Effect.zipRight(Effect.sync(() => child.kill("SIGKILL")), exited(child))
    )
    const { apiKey, baseUrl, origin } = yield* Schema.decode(Address)(yield* spoken(child))
    const control = yield* HttpApiClient.make(ControlApi, { baseUrl: origin })
    const http = yield* HttpClient.HttpClient
    let last = "req_0"
    /** What was asked of it. The sandbox keeps more than a life of the program can ask. */
    const askedSince: Effect.Effect<ReadonlyArray<RequestRecord>> = Effect.suspend(() => control.requests({ urlParams: { after: last } })).pipe(
      Effect.orDie,
      Effect.map(({ data }) => data)
    )

    return {
      env: { PLAZA_BASE_URL: baseUrl, PLAZA_API_KEY: apiKey },
      stock: Effect.orDie(Effect.map(control.state(), ({ products }) => new Map(products.map(({ id, stock }) => [String(id), stock])))),
      askedSince,
      /** The same, and the next ones are those that come from now on. */
      asked: Effect.tap(askedSince, (records) => {
        last = records.at(-1)?.id ?? last
      }),
      // The derived client takes one kind of fault at a time, and which one it is isn't known here.
      addFault: (fault: Fault) =>
        http.execute(HttpClientRequest.bodyUnsafeJson(HttpClientRequest.post(`${origin}/sandbox/faults`), fault)).pipe(
          Effect.flatMap(HttpClientResponse.filterStatusOk),
          Effect.orDie
        ),
      /** Ends them, and tells how many calls they hit. */
      clearFaults: Effect.zipLeft(
        Effect.map(control.listFaults(), ({ data }) => data.reduce((hits, fault) => hits + fault.hits, 0)),
        control.clearFaults()
      ).pipe(Effect.orDie),
      /** Closes the shop and tells what ever took effect in it, in that order. */
      close: Effect.gen(function*() {
        child.kill("SIGTERM")
        yield* exited(child)
        const database = new Database(data)
        // The columns are those that the shop's own notes have.
        const applied = database.prepare("SELECT product, stock, at FROM applied ORDER BY n").all() as ReadonlyArray<Applied>
        database.close()
        return applied
      })
    }
  }).pipe(Effect.orDie, Effect.provide(FetchHttpClient.layer))
export type Stage = Effect.Effect.Success<ReturnType<typeof open>>
