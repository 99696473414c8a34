/** Controls a running sandbox through its control API. */
import { UsageError } from "@plaza/cli-kit/CliError"
import { ClientError, TransportReason } from "@plaza/client"
import * as ErrorResponse from "@plaza/domain/ErrorResponse"
import type { ServiceError } from "@plaza/domain/Errors"
import { ControlApi, Fault, FaultId, faultPresets } from "@plaza/sandbox"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import * as HttpClient from "effect/http/HttpClient"
import { isHttpClientError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { transportFor } from "../profiles/Connection.ts"

type ControlFailure = ServiceError | ClientError.ConnectionFailed | UsageError

const decodeFault = Schema.decodeUnknownEffect(Fault, { onExcessProperty: "error" })

const kinds: ReadonlyArray<unknown> = Fault.members.map(({ fields }) => fields.kind.literal)

const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1()

const refuse = (message: string): Effect.Effect<never, UsageError> => Effect.fail(new UsageError({ message }))

/** The platform's messages that name no field, in words that do. */
const problems: Readonly<Record<string, string>> = {
  "Missing key": "missing",
  "Expected no excess property": "invalid: a fault of this kind has no such field"
}

const problemOf = (issue: SchemaIssue.Issue): string => {
  const [{ message, path = [] } = { message: "it is not a fault" }] = issuesOf(issue).issues
  const name = path.map((segment) => String(typeof segment === "object" ? segment.key : segment)).join(".")
  return `${name === "" ? "" : `"${name}" of `}the fault is ${problems[message] ?? `invalid: ${message}`}`
}

const asFault = (json: unknown): Effect.Effect<Fault, UsageError> => {
  if (!Predicate.isReadonlyObject(json)) return refuse("the fault must be a JSON object")
  // The union of the kinds only says that it expects a fault.
  if (!kinds.includes(json["kind"])) return refuse(`"kind" of the fault is invalid: use one of ${kinds.join(", ")}`)
  return Effect.mapError(decodeFault(json), ({ issue }) => new UsageError({ message: problemOf(issue) }))
}

const presetOf = (name: string): Effect.Effect<Fault, UsageError> => {
  const preset = Object.hasOwn(faultPresets, name) ? faultPresets[name] : undefined
  return preset === undefined
    ? refuse(`"${name}" is neither a JSON object nor a preset: use one of ${Object.keys(faultPresets).join(", ")}`)
    : Effect.succeed(preset.fault)
}

/** Fails for error responses, which have the error envelope of the service. */
const failForErrors = HttpClient.transformResponse(
  Effect.flatMap((response: HttpClientResponse.HttpClientResponse) =>
    response.status < 400 ? Effect.succeed(response) : Effect.gen(function*() {
      const body = yield* Effect.orElseSucceed(response.text, () => "")
      const receivedAt = yield* Clock.currentTimeMillis
      return yield* Effect.fail(ErrorResponse.toError({ status: response.status, headers: response.headers, body, receivedAt }))
    })
  )
)

/** Explains a failure of the transport. A refusal of the sandbox stays. */
const explain = (origin: string) => (failure: unknown): ControlFailure => {
  if (isHttpClientError(failure) && failure.reason._tag === "TransportError") {
    return new ClientError.ConnectionFailed({
      attempts: 1,
      reason: TransportReason.reasonOf(failure).reason,
      message: `no sandbox is running at ${origin}: start one with plaza sandbox start, or use --base-url`
    })
  }
  return ClientError.isServiceError(failure)
    ? failure
    : new UsageError({ message: `the server at ${origin} is not a sandbox of this version: check --base-url and PLAZA_BASE_URL` })
}

/** The control of the sandbox at an origin such as `http://127.0.0.1:4010`. */
export const make = (origin: string) =>
  Effect.gen(function*() {
    const httpClient = failForErrors(yield* HttpClient.HttpClient)
    const client = yield* HttpApiClient.makeWith(ControlApi, { httpClient, baseUrl: origin })
    const call = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, ControlFailure> => Effect.mapError(effect, explain(origin))
    // The derived client has one type per kind of fault, and the kind is not known here.
    const addFault = (fault: Fault) =>
      httpClient.execute(HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.post(`${origin}/sandbox/faults`), fault)).pipe(
        Effect.flatMap(HttpClientResponse.schemaBodyJson(Schema.Struct({ id: FaultId }))),
        Effect.map(({ id }) => id),
        call
      )
    return {
      reset: call(client.reset()),
      listFaults: call(Effect.map(client.listFaults(), ({ data }) => data)),
      /** Adds a fault from its JSON. */
      addFault: (json: unknown) => Effect.flatMap(asFault(json), addFault),
      /** Adds the fault of a preset. */
      addPreset: (name: string) => Effect.flatMap(presetOf(name), addFault),
      removeFault: (id: string) => call(client.removeFault({ params: { id: FaultId.make(id) } })),
      clearFaults: call(client.clearFaults()),
      listSnapshots: call(Effect.map(client.snapshots.list(), ({ data }) => data)),
      /** Saves all data under a name. */
      saveSnapshot: (name: string) => call(client.snapshots.save({ payload: { name } })),
      restoreSnapshot: (name: string) => call(client.snapshots.restore({ params: { name } })),
      removeSnapshot: (name: string) => call(client.snapshots.remove({ params: { name } })),
      /** Adds generated data: the number of each kind. */
      generate: (quantities: Readonly<Record<string, number>>) => call(client.seeding.addFixtures({ payload: { generate: quantities } }))
    }
  }).pipe(Effect.provide(Layer.unwrap(transportFor(origin, false))))
