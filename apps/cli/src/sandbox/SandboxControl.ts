/** Controls a running sandbox through its control API. */
import * as HttpApiClient from "@effect/platform/HttpApiClient"
import type { HttpApiDecodeError } from "@effect/platform/HttpApiError"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import { ClientError } from "@plaza-legacy/client"
import * as Node from "@plaza-legacy/client/node"
import * as ErrorResponse from "@plaza-legacy/domain/ErrorResponse"
import type { ServiceError } from "@plaza-legacy/domain/Errors"
import { type ActiveFault, ControlApi, Fault, FaultId, faultPresets, type Fixtures, type Snapshot } from "@plaza-legacy/sandbox"
import { UsageError } from "@plaza/cli-kit/CliError"
import * as Clock from "effect/Clock"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"

export type ControlFailure = ServiceError | ClientError.ConnectionFailed | UsageError

export interface Control {
  readonly reset: Effect.Effect<void, ControlFailure>
  readonly listFaults: Effect.Effect<ReadonlyArray<ActiveFault>, ControlFailure>
  /** Adds a fault from its JSON. */
  readonly addFault: (fault: unknown) => Effect.Effect<FaultId, ControlFailure>
  /** Adds the fault of a preset. */
  readonly addPreset: (name: string) => Effect.Effect<FaultId, ControlFailure>
  readonly removeFault: (id: string) => Effect.Effect<void, ControlFailure>
  readonly clearFaults: Effect.Effect<void, ControlFailure>
  readonly listSnapshots: Effect.Effect<ReadonlyArray<Snapshot>, ControlFailure>
  /** Saves all data under a name. */
  readonly saveSnapshot: (name: string) => Effect.Effect<Snapshot, ControlFailure>
  readonly restoreSnapshot: (name: string) => Effect.Effect<void, ControlFailure>
  readonly removeSnapshot: (name: string) => Effect.Effect<void, ControlFailure>
  /** Adds fixtures to the data. */
  readonly addFixtures: (fixtures: Fixtures) => Effect.Effect<void, ControlFailure>
}

const decodeFault = Schema.decodeUnknown(Fault, { onExcessProperty: "error" })

const asFault = (json: unknown): Effect.Effect<Fault, UsageError> =>
  Effect.mapError(decodeFault(json), (error) => {
    const first = ParseResult.ArrayFormatter.formatErrorSync(error)[0]
    const subject = first === undefined || first.path.length === 0 ? "the fault" : `"${first.path.join(".")}" of the fault`
    return new UsageError({ message: `${subject} is invalid: ${first?.message ?? "it is not a fault"}` })
  })

const presetOf = (name: string): Effect.Effect<Fault, UsageError> => {
  const preset = Object.hasOwn(faultPresets, name) ? faultPresets[name] : undefined
  return preset === undefined
    ? Effect.fail(
      new UsageError({ message: `"${name}" is neither a JSON object nor a preset: use one of ${Object.keys(faultPresets).join(", ")}` })
    )
    : Effect.succeed(preset.fault)
}

/** Fails for error responses, which have the error envelope of the service. */
const failForErrors = HttpClient.transformResponse((
  response: Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>
) =>
  Effect.flatMap(response, (response): Effect.Effect<HttpClientResponse.HttpClientResponse, ServiceError> =>
    response.status < 400
      ? Effect.succeed(response)
      : Effect.flatMap(
        Effect.zip(Effect.orElseSucceed(response.text, () => ""), Clock.currentTimeMillis),
        ([body, receivedAt]) => Effect.fail(ErrorResponse.toError({ status: response.status, headers: response.headers, body, receivedAt }))
      ))
)

type Failure = ServiceError | HttpClientError.HttpClientError | ParseResult.ParseError | HttpApiDecodeError

const withExplanation = (origin: string) => <A>(call: Effect.Effect<A, Failure>): Effect.Effect<A, ControlFailure> =>
  Effect.mapError(call, (failure) => {
    if (failure._tag === "RequestError") {
      return new ClientError.ConnectionFailed({
        attempts: 1,
        reason: failure.reason,
        message: `no sandbox is running at ${origin}: start one with plaza sandbox start, or use --base-url`
      })
    }
    return failure._tag === "ResponseError" || failure._tag === "ParseError" || failure._tag === "HttpApiDecodeError"
      ? new UsageError({ message: `the server at ${origin} is not a sandbox of this version: check --base-url and PLAZA_BASE_URL` })
      : failure
  })

/** The control of the sandbox at an origin such as `http://127.0.0.1:4010`. */
export const make = (origin: string): Effect.Effect<Control, ConfigError, Scope.Scope> =>
  Effect.gen(function*() {
    const httpClient = failForErrors(Context.get(yield* Layer.build(Node.layerConfig), HttpClient.HttpClient))
    const client = yield* HttpApiClient.makeWith(ControlApi, { httpClient, baseUrl: origin })
    const call = withExplanation(origin)
    // The derived client has one type per kind of fault, and the kind is not known here.
    const addFault = (fault: Fault) =>
      httpClient.execute(HttpClientRequest.bodyUnsafeJson(HttpClientRequest.post(`${origin}/sandbox/faults`), fault)).pipe(
        Effect.flatMap(HttpClientResponse.schemaBodyJson(Schema.Struct({ id: FaultId }))),
        Effect.map(({ id }) => id),
        call
      )
    return {
      reset: call(client.reset()),
      listFaults: call(Effect.map(client.listFaults(), ({ data }) => data)),
      addFault: (json) => Effect.flatMap(asFault(json), addFault),
      addPreset: (name) => Effect.flatMap(presetOf(name), addFault),
      removeFault: (id) => call(client.removeFault({ path: { id: FaultId.make(id) } })),
      clearFaults: call(client.clearFaults()),
      listSnapshots: call(Effect.map(client.snapshots.list(), ({ data }) => data)),
      saveSnapshot: (name) => call(client.snapshots.save({ payload: { name } })),
      restoreSnapshot: (name) => call(client.snapshots.restore({ path: { name: encodeURIComponent(name) } })),
      removeSnapshot: (name) => call(client.snapshots.remove({ path: { name: encodeURIComponent(name) } })),
      addFixtures: (fixtures) => call(client.seeding.addFixtures({ payload: fixtures }))
    }
  })
