/** Handlers of the control API. */
import { InternalError, NotFound, ValidationError } from "@plaza/domain/Errors"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as OpenApi from "effect/http-api/OpenApi"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as Layer from "effect/Layer"
import { closest } from "fastest-levenshtein"
import { AccessRequests } from "../access/AccessRequests.ts"
import { AccountsRepo } from "../access/AccountsRepo.ts"
import { CurrentAssumptions } from "../Assumptions.ts"
import { Commits } from "../http/Commits.ts"
import { Faults } from "../http/Faults.ts"
import { RequestLog } from "../http/RequestLog.ts"
import { basePath, operations } from "../InterfaceApi.ts"
import { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import { openApi } from "../OpenApiDocument.ts"
import * as Postman from "../Postman.ts"
import { Seeding } from "../seeding/Seeding.ts"
import { Snapshots } from "../seeding/Snapshots.ts"
import { invalidField, unknownRequest } from "../Validation.ts"
import { VirtualClock } from "../VirtualClock.ts"
import * as Worlds from "../worlds/Worlds.ts"
import { CurrentWorld } from "../worlds/Worlds.ts"
import { basePath as prefix } from "./Control.ts"
import { ControlApi } from "./ControlApi.ts"

/** In process, a request may have no Host. */
const originOf = ({ headers }: HttpServerRequest): string => `http://${headers["host"] ?? "127.0.0.1:4010"}`

const ofMain = ({ id }: CurrentWorld["Service"]): Effect.Effect<void, NotFound> =>
  id === undefined
    ? Effect.void
    : Effect.fail(
      new NotFound({ message: `the world "${id}" has no worlds: make, list and remove them at ${prefix}/worlds of the sandbox itself` })
    )

const operationNames = [...operations.keys()]

/** A test that counts the requests of a misspelt operation would otherwise pass by mistake. */
const checkOperation = (pattern: string | undefined): Effect.Effect<void, ValidationError> =>
  pattern === undefined || pattern.includes("*") || operationNames.includes(pattern)
    ? Effect.void
    : Effect.fail(invalidField(
      "operation",
      `is unknown: did you mean ${closest(pattern, operationNames)}? * matches any run of characters`
    ))

const control = HttpApiBuilder.group(ControlApi, "control", (handlers) =>
  Effect.gen(function*() {
    const accounts = yield* AccountsRepo
    const { undocumented } = yield* CurrentAssumptions
    const seeding = yield* Seeding
    const faults = yield* Faults
    const log = yield* RequestLog
    const clock = yield* VirtualClock
    const commits = yield* Commits
    const latitude = yield* CurrentLatitude
    const { prefix: ofWorld } = yield* CurrentWorld
    return handlers.handleAll({
      health: () => Effect.succeed({ status: "ok" as const, seed: seeding.seed }),
      reset: () => seeding.reset,
      state: () => Effect.sync(seeding.state),
      requests: Effect.fnUntraced(function*({ query: { account, count, ...query } }) {
        // Records have the id of the account only.
        yield* checkOperation(query.operation)
        const filter = account === undefined ? query : { ...query, account: accounts.findByUsername(account)?.id ?? account }
        return count === undefined ? log.read(filter) : { count: log.count(filter) }
      }),
      request: ({ params: { id } }) => {
        const detail = log.detail(id)
        return detail === undefined ? Effect.fail(unknownRequest(id)) : Effect.succeed(detail)
      },
      readClock: () => clock.read,
      advanceClock: ({ payload }) => clock.advance(payload.millis),
      addFault: ({ payload }) => Effect.map(faults.add(payload), (id) => ({ id })),
      listFaults: () => Effect.all({ data: faults.list, unused: faults.unused }),
      replaceFault: ({ params, payload }) => faults.replace(params.id, payload),
      removeFault: ({ params }) => faults.remove(params.id),
      clearFaults: () => Effect.sync(faults.clear),
      commits: ({ query }) => Effect.sync(() => commits.read(query)),
      readLatitude: () => Effect.sync(() => latitude.value),
      setLatitude: ({ payload }) => Effect.sync(() => latitude.change(payload)),
      openApi: ({ request }) =>
        Effect.sync(() => ({
          ...OpenApi.fromApi(ControlApi),
          servers: [{ url: `${originOf(request)}${ofWorld}`, description: "This sandbox" }]
        })),
      postman: ({ request }) =>
        Effect.sync(() => Postman.collection(openApi({ undocumented }), `${originOf(request)}${ofWorld}${basePath}`))
    })
  }))

const asId = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<{ readonly id: A }, E> => Effect.map(effect, (id) => ({ id }))

const seeding = HttpApiBuilder.group(ControlApi, "seeding", (handlers) =>
  Effect.gen(function*() {
    const { operations } = yield* Seeding
    const requests = yield* AccessRequests
    return handlers.handleAll({
      createAccount: ({ payload }) => operations.createAccount(payload),
      setProfile: ({ params, payload }) => operations.setProfile(params.id, payload),
      setAccess: ({ params, payload }) => operations.setAccess(params.id, payload.move),
      requestAccess: ({ params, payload }) => operations.requestAccess(params.id, payload),
      listAccessRequests: () => Effect.sync(() => ({ data: requests.list() })),
      decideAccess: ({ params, payload }) => operations.decideAccess(params.id, payload.decision),
      createKey: ({ params, payload }) => operations.createKey(params.id, payload),
      revokeKey: ({ params }) => operations.revokeKey(params.id),
      setRelation: ({ payload: { from, to, ...relation } }) => operations.setRelation(from, to, relation),
      createPost: ({ payload }) => asId(operations.createPost(payload)),
      setProduct: ({ payload }) => asId(operations.setProduct(payload)),
      setOrder: ({ payload }) => asId(operations.setOrder(payload)),
      createConversation: ({ payload }) => asId(operations.createConversation(payload)),
      addFixtures: ({ payload }) => operations.addFixtures(payload)
    })
  }))

const snapshots = HttpApiBuilder.group(ControlApi, "snapshots", (handlers) =>
  Effect.map(Snapshots, (snapshots) =>
    handlers.handleAll({
      list: () => Effect.sync(() => ({ data: snapshots.list() })),
      save: ({ payload: { name } }) => snapshots.save(name),
      restore: ({ params: { name } }) => snapshots.restore(name),
      remove: ({ params: { name } }) => snapshots.remove(name)
    })))

const worlds = HttpApiBuilder.group(ControlApi, "worlds", (handlers) =>
  Effect.gen(function*() {
    const worlds = yield* Worlds.Worlds
    const isMain = ofMain(yield* CurrentWorld)
    return handlers.handleAll({
      create: ({ payload, request }) =>
        Effect.andThen(isMain, worlds.create(payload)).pipe(
          Effect.catchTag("SandboxError", ({ message }) => Effect.fail(new ValidationError({ message, details: { field: "body" } }))),
          Effect.map((world) => Worlds.describeCreated(world, originOf(request)))
        ),
      list: ({ request }) => Effect.as(isMain, { data: worlds.list().map((world) => Worlds.describe(world, originOf(request))) }),
      remove: ({ params: { id } }) =>
        Effect.andThen(isMain, worlds.remove(id)).pipe(
          Effect.catchTag("SandboxError", ({ message }) => Effect.fail(new InternalError({ message })))
        )
    })
  }))

export const layer = Layer.mergeAll(control, seeding, snapshots, worlds)
