/**
 * Prism, Stoplight's proxy, between the client and a sandbox: it validates both directions against an OpenAPI file and reports
 * violations in a response header.
 */
import { HttpClient, type HttpClientResponse } from "@effect/platform"
import { expect, it } from "@effect/vitest"
import { Sandbox, type SandboxError } from "@plaza-legacy/sandbox"
import { createLogger } from "@stoplight/prism-core"
import { getHttpOperationsFromSpec } from "@stoplight/prism-http"
import { createServer } from "@stoplight/prism-http-server"
import { Context, Effect, Layer, Schema } from "effect"
import { fileURLToPath } from "node:url"
import * as NodeClient from "../../src/node.ts"
import * as OnSandbox from "./OnSandbox.ts"

/** What it made of one request and its answer. */
export interface Finding {
  readonly status: number
  /** In the request, by the place and what is wrong there. */
  readonly request: ReadonlyArray<string>
  /** In the answer. */
  readonly response: ReadonlyArray<string>
}

export class Prism extends Context.Tag("test/Prism")<Prism, {
  /** One for every answer that passed. */
  readonly findings: ReadonlyArray<Finding>
}>() {}

const readViolations = Schema.decodeUnknownSync(
  Schema.parseJson(Schema.Array(Schema.Struct({ location: Schema.NonEmptyArray(Schema.String), message: Schema.String })))
)

const findingOf = ({ headers, status }: HttpClientResponse.HttpClientResponse): Finding => {
  const all = readViolations(headers["sl-violations"] ?? "[]")
  const of = (side: string) =>
    all.filter(({ location }) => location[0] === side).map(({ location, message }) => `${location.slice(1).join(".")}: ${message}`)
  return { status, request: of("request"), response: of("response") }
}

const listening = (file: string, upstream: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer(await getHttpOperationsFromSpec(file), {
        cors: false,
        components: { logger: createLogger("prism", { level: "silent" }) },
        config: {
          isProxy: true,
          upstream: new URL(upstream),
          upstreamProxy: undefined,
          checkSecurity: true,
          validateRequest: true,
          validateResponse: true,
          // What it finds it says, and lets it pass all the same.
          errors: false,
          mock: { dynamic: false }
        }
      })
      return { server, address: await server.listen(0, "127.0.0.1") }
    }),
    // Without waiting for connections that are kept open: they end with the client's pool.
    ({ server }) =>
      Effect.sync(() => {
        void server.close()
      })
  )

const proxied = (file: string, sandbox: Sandbox.Options | undefined) =>
  Layer.scoped(
    Sandbox.Sandbox,
    Effect.gen(function*() {
      const behind = yield* Sandbox.Sandbox
      const { address } = yield* listening(file, behind.baseUrl)
      return { ...behind, baseUrl: address }
    })
  ).pipe(Layer.provide(Sandbox.layerServer(sandbox)))

const watched = Layer.scopedContext(Effect.gen(function*() {
  const findings: Array<Finding> = []
  const client = yield* HttpClient.HttpClient
  return Context.make(Prism, { findings }).pipe(
    Context.add(
      HttpClient.HttpClient,
      HttpClient.tap(client, (response) => Effect.sync(() => findings.push(findingOf(response))))
    )
  )
})).pipe(Layer.provide(NodeClient.layer))

/** The files that it may hold traffic to. */
export const files = {
  /** The document's operations. */
  contract: fileURLToPath(new URL("../../../domain/openapi.json", import.meta.url)),
  /** And what the sandbox assumes beside them. */
  sandbox: fileURLToPath(new URL("../../../sandbox/openapi.json", import.meta.url))
}

/** Client, proxy and sandbox, each on a socket of its own. */
export const between = (
  file: string,
  { client, sandbox }: OnSandbox.WorldOptions = {}
): Layer.Layer<OnSandbox.World | Prism, SandboxError> =>
  Layer.provideMerge(OnSandbox.plaza(client), Layer.merge(proxied(file, sandbox), watched))

/**
 * A test over sockets with the proxy between, which has to find nothing. Only for tests without faults, which it would rightly find, and
 * without uploads: it reads any body as text and counts its characters for bytes.
 */
export const itThrough = <E>(
  name: string,
  test: Effect.Effect<unknown, E, OnSandbox.World>,
  options: OnSandbox.WorldOptions = {}
): void => {
  it.live(`${name}, through Prism, which finds nothing`, () =>
    Effect.gen(function*() {
      yield* test
      const { findings } = yield* Prism
      expect(findings.length).toBeGreaterThan(0)
      expect(findings.flatMap(({ request, response }) => [...request, ...response])).toEqual([])
    }).pipe(Effect.provide(between(files.contract, options))))
}
