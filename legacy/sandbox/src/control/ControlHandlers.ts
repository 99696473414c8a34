/**
 * Handlers of `ControlGroup`.
 *
 * @since 0.1.0
 */
import type { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import * as OpenApi from "@effect/platform/OpenApi"
import type { ValidationError } from "@plaza-legacy/domain/Errors"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { closest } from "fastest-levenshtein"
import { AccountsRepo } from "../access/AccountsRepo.ts"
import { CurrentAssumptions } from "../Assumptions.ts"
import { assumedOperations, documentedOperations } from "../http/Admission.ts"
import { Commits } from "../http/Commits.ts"
import * as Endpoints from "../http/Endpoints.ts"
import * as Envelope from "../http/Envelope.ts"
import { Faults } from "../http/Faults.ts"
import { RequestLog } from "../http/RequestLog.ts"
import { basePath } from "../http/ServedApi.ts"
import { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import { openApi } from "../OpenApiDocument.ts"
import * as Postman from "../Postman.ts"
import { Seeding } from "../seeding/Seeding.ts"
import { VirtualClock } from "../VirtualClock.ts"
import { ControlApi, ControlGroup } from "./ControlApi.ts"
import { servedControl } from "./ServedControlApi.ts"

/** In process, a request may have no Host. */
const originOf = ({ headers }: HttpServerRequest): string => `http://${headers["host"] ?? "127.0.0.1:4010"}`

const operationNames = [...documentedOperations, ...assumedOperations].map(({ name }) => name)

/** A test that counts the requests of a misspelt operation would otherwise pass by mistake. */
const checkOperation = (pattern: string | undefined): Effect.Effect<void, ValidationError> =>
  pattern === undefined || pattern.includes("*") || operationNames.includes(pattern)
    ? Effect.void
    : Effect.fail(Envelope.invalidField(
      "operation",
      `is unknown: did you mean ${closest(pattern, operationNames)}? * matches any run of characters`
    ))

/** @since 0.1.0 @category handlers */
export const group = Endpoints.group(servedControl, ControlGroup, (handlers) =>
  Effect.gen(function*() {
    const accounts = yield* AccountsRepo
    const { undocumented } = yield* CurrentAssumptions
    const seeding = yield* Seeding
    const faults = yield* Faults
    const log = yield* RequestLog
    const clock = yield* VirtualClock
    const commits = yield* Commits
    const latitude = yield* CurrentLatitude
    return handlers
      .handle("health", () => Effect.map(seeding.seed, (seed) => ({ status: "ok" as const, seed })))
      .handle("reset", () => seeding.reset)
      .handle("state", () => seeding.state)
      .handle("requests", ({ urlParams: { account, count, ...query } }) =>
        Effect.gen(function*() {
          // Records have the id of the account only.
          yield* checkOperation(query.operation)
          const byUsername = account === undefined ? Option.none() : yield* accounts.findByUsername(account)
          const filter = account === undefined
            ? query
            : { ...query, account: Option.match(byUsername, { onNone: () => account, onSome: ({ id }) => id }) }
          return count === undefined ? yield* log.read(filter) : { count: yield* log.count(filter) }
        }))
      .handle("request", ({ path: { id } }) =>
        Effect.flatMap(
          log.detail(id),
          (detail) => detail === undefined ? Effect.fail(Envelope.unknownRequest(id)) : Effect.succeed(detail)
        ))
      .handle("readClock", () => clock.read)
      .handle("advanceClock", ({ payload }) => clock.advance(payload.millis))
      .handle("addFault", ({ payload }) => Effect.map(faults.add(payload), (id) => ({ id })))
      .handle("listFaults", () => Effect.map(faults.list, (data) => ({ data })))
      .handle("replaceFault", ({ path, payload }) => faults.replace(path.id, payload))
      .handle("removeFault", ({ path }) => faults.remove(path.id))
      .handle("clearFaults", () => faults.clear)
      .handle("commits", ({ urlParams }) => commits.read(urlParams))
      .handle("readLatitude", () => Effect.sync(() => latitude.value))
      .handle("openApi", ({ request }) =>
        Effect.sync(() => ({ ...OpenApi.fromApi(ControlApi), servers: [{ url: originOf(request), description: "This sandbox" }] })))
      .handle("postman",
        ({ request }) => Effect.sync(() => Postman.collection(openApi({ undocumented }), `${originOf(request)}${basePath}`)))
      .handle("setLatitude", ({ payload }) => latitude.change(payload))
  }))
