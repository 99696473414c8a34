/** Controls a running sandbox through its control API. */
import { UsageError } from "@plaza/cli-kit/CliError"
import { ClientError, TransportReason } from "@plaza/client"
import type { ServiceError } from "@plaza/domain/Errors"
import { ControlApi, Fault } from "@plaza/sandbox"
import * as Effect from "effect/Effect"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import { isHttpClientError } from "effect/http/HttpClientError"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { transportFor } from "../profiles/Connection.ts"
import * as Problem from "../schema/Problem.ts"

type ControlFailure = ServiceError | ClientError.ConnectionFailed | UsageError

const decodeFault = Schema.decodeUnknownEffect(Fault, { onExcessProperty: "error" })

const kinds: ReadonlyArray<unknown> = Fault.members.map(({ fields }) => fields.kind.literal)

const refuse = (message: string): Effect.Effect<never, UsageError> => Effect.fail(new UsageError({ message }))

const problemOf = ({ issue }: Schema.SchemaError): UsageError => {
  const { field, problem } = Problem.first(issue)
  const clause = problem === Problem.missing
    ? problem
    : problem === Problem.unexpected
    ? "is invalid: a fault of this kind has no such field"
    : `is invalid: ${problem}`
  return new UsageError({ message: `${field === "" ? "" : `"${field}" of `}the fault ${clause}` })
}

/** The fault of a JSON value. */
export const asFault = (json: unknown): Effect.Effect<Fault, UsageError> => {
  if (!Predicate.isReadonlyObject(json)) return refuse("the fault must be a JSON object")
  // The union of the kinds only says that it expects a fault.
  if (!kinds.includes(json["kind"])) return refuse(`"kind" of the fault is invalid: use one of ${kinds.join(", ")}`)
  return Effect.mapError(decodeFault(json), problemOf)
}

/** Explains a failure of the transport. A refusal of the sandbox stays. */
const explain = (origin: string) => (failure: unknown): ControlFailure => {
  if (isHttpClientError(failure) && failure.reason._tag === "TransportError") {
    const { reason } = TransportReason.reasonOf(failure)
    const problem = reason === "ECONNREFUSED"
      ? `no sandbox is running at ${origin}`
      : `the sandbox at ${origin} did not respond (${reason})`
    return new ClientError.ConnectionFailed({
      attempts: 1,
      reason,
      message: `${problem}: start one with plaza sandbox start, or use --base-url`
    })
  }
  return ClientError.isServiceError(failure)
    ? failure
    : new UsageError({ message: `the server at ${origin} is not a sandbox of this version: check --base-url and PLAZA_BASE_URL` })
}

/** The client of the control API. */
export type Client = HttpApiClient.ForApi<typeof ControlApi>

/** The control of the sandbox at an origin such as `http://127.0.0.1:4010`. */
export const make = (origin: string) =>
  Effect.gen(function*() {
    const client = yield* HttpApiClient.make(ControlApi, { baseUrl: origin })
    return <A, E>(call: (client: Client) => Effect.Effect<A, E>): Effect.Effect<A, ControlFailure> =>
      Effect.mapError(call(client), explain(origin))
  }).pipe(Effect.provide(Layer.unwrap(transportFor(origin, false))))
