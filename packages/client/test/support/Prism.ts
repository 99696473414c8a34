/**
 * Prism, Stoplight's proxy, between the client and a sandbox: it validates both directions against an OpenAPI file and reports
 * violations in a response header.
 */
import { expect, it } from "@effect/vitest"
import { Sandbox, type SandboxError } from "@plaza/sandbox"
import { createLogger } from "@stoplight/prism-core"
import { getHttpOperationsFromSpec } from "@stoplight/prism-http"
import { createServer } from "@stoplight/prism-http-server"
import { Context, Effect, Layer, Schema } from "effect"
import { HttpClient, type HttpClientResponse } from "effect/http"
import { fileURLToPath } from "node:url"
import * as NodeClient from "../../src/node.ts"
import * as OnSandbox from "./OnSandbox.ts"

/** The violations of one request and its response. */
export interface Finding {
  readonly status: number
  /** In the request, each with its place. */
  readonly request: ReadonlyArray<string>
  /** In the response. */
  readonly response: ReadonlyArray<string>
}

export class Prism extends Context.Service<Prism, {
  /** One for each response. */
  readonly findings: ReadonlyArray<Finding>
}>()("test/Prism") {}

const readViolations = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Array(Schema.Struct({ location: Schema.NonEmptyArray(Schema.String), message: Schema.String })))
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
          // Reports violations, and passes the message on.
          errors: false,
          mock: { dynamic: false }
        }
      })
      return { server, address: await server.listen(0, "127.0.0.1") }
    }),
    // Doesn't wait for idle connections, which end with the client's pool.
    ({ server }) =>
      Effect.sync(() => {
        void server.close()
      })
  )

const proxied = (file: string, sandbox: Sandbox.Options | undefined) =>
  Layer.effect(
    Sandbox.Sandbox,
    Effect.gen(function*() {
      const behind = yield* Sandbox.Sandbox
      const { address } = yield* listening(file, behind.baseUrl)
      return { ...behind, baseUrl: address }
    })
  ).pipe(Layer.provide(Sandbox.layerServer(sandbox)))

const watched = Layer.effectContext(Effect.gen(function*() {
  const findings: Array<Finding> = []
  const client = yield* HttpClient.HttpClient
  return Context.make(Prism, { findings }).pipe(
    Context.add(
      HttpClient.HttpClient,
      HttpClient.tap(client, (response) => Effect.sync(() => findings.push(findingOf(response))))
    )
  )
})).pipe(Layer.provide(NodeClient.layer))

/** OpenAPI files to check against. */
export const files = {
  /** The operations of the document. */
  contract: fileURLToPath(new URL("../../../domain/openapi.json", import.meta.url)),
  /** The same and the endpoints that the sandbox assumes. */
  sandbox: fileURLToPath(new URL("../../../sandbox/openapi.json", import.meta.url))
}

/** Client, proxy and sandbox, each on a socket of its own. */
export const between = (
  file: string,
  { client, sandbox }: OnSandbox.WorldOptions = {}
): Layer.Layer<OnSandbox.World | Prism, SandboxError> =>
  Layer.provideMerge(OnSandbox.plaza(client), Layer.merge(proxied(file, sandbox), watched))

/**
 * A test over sockets with the proxy between, which must find no violation. Only for tests without faults, which are violations, and
 * without uploads of other bytes than ASCII, because the proxy reads any body as text.
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
