/** `health`: requests the health check of a running worker or runner of this machine, for health checks of containers. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Output } from "@plaza/cli-kit/Output"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Schema from "effect/Schema"
import * as ObservabilitySettings from "../config/ObservabilitySettings.ts"
import * as Setting from "../config/Setting.ts"

/** The process does not respond, or is not what the check requires. */
export class Unhealthy extends Data.TaggedError("Unhealthy")<{
  readonly url: string
  readonly message: string
}> {}

export interface Settings {
  readonly port: number | undefined
  /** Requires that it works, and not only that it lives. */
  readonly isReady: boolean
}

// Docker ends a check after the timeout of its image.
const within = Duration.seconds(4)

const Readiness = Schema.fromJsonString(Schema.Struct({ reasons: Schema.Array(Schema.String) }))

const wildcards = ["0.0.0.0", "::"]

export const run = Effect.fnUntraced(function*({ isReady, port }: Settings) {
  const { flag, variable } = ObservabilitySettings.options.port
  if (port === undefined) return yield* Setting.usageError(`the port of the process is not set: use --${flag} or ${variable}`)
  const host = yield* ObservabilitySettings.options.host.fromConfig
  const address = wildcards.includes(host) ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host
  const url = `http://${address}:${port}/${isReady ? "readyz" : "healthz"}`
  const { body, status } = yield* HttpClient.get(url).pipe(
    Effect.flatMap((response) => Effect.map(response.text, (body) => ({ body, status: response.status }))),
    Effect.timeout(within),
    Effect.mapError(() => new Unhealthy({ url, message: `${url} does not respond` })),
    Effect.provide(NodeHttpClient.layerNodeHttp)
  )
  const { reasons } = yield* Effect.orElseSucceed(Schema.decodeEffect(Readiness)(body), () => ({ reasons: [] }))
  if (status !== 200) {
    const why = reasons.length === 0 ? "" : `: ${reasons.join(", ")}`
    return yield* new Unhealthy({ url, message: `${url} responds with ${status}${why}` })
  }
  const output = yield* Output
  yield* output.done({ url, status }, `${url} responds with 200.`)
})
