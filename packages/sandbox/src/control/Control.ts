/**
 * Serves the control API. By default only programs on this machine and the sandbox's own pages may call it, because
 * it can do anything.
 *
 * @since 0.1.0
 */
import { Forbidden } from "@plaza/domain/Errors"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { AccessRequests } from "../access/AccessRequests.js"
import { Assumed } from "../Assumptions.js"
import { Commits } from "../http/Commits.js"
import * as SeedingHandlers from "./SeedingHandlers.js"
import type { ControlGroup } from "./ControlApi.js"
import { ControlApi } from "./ControlApi.js"
import type { AnyHandler, HandlersOfGroup } from "../http/Dispatch.js"
import { operationsOf } from "../http/Dispatch.js"
import type { Answer } from "../http/Envelope.js"
import { Faults } from "../http/Faults.js"
import { decode, route } from "../http/Admission.js"
import type { Gone, Incoming } from "../http/IncomingRequest.js"
import { orEnvelope } from "../http/IncomingRequest.js"
import * as KeyMask from "../http/KeyMask.js"
import { CurrentLatitude } from "../latitude/CurrentLatitude.js"
import { isSameOrigin, type Local } from "../http/LocalOnly.js"
import { RequestLog } from "../http/RequestLog.js"
import { matcher } from "../http/Routes.js"
import { Seeding } from "../seeding/Seeding.js"
import { VirtualClock } from "../VirtualClock.js"

/**
 * The path prefix of the control API.
 *
 * @since 0.1.0
 * @category constants
 */
export const basePath = "/sandbox"

/** @since 0.1.0 @category services */
export class Control extends Context.Tag("@plaza/sandbox/Control")<Control, {
  readonly answer: (incoming: Incoming, path: string) => Effect.Effect<Answer, Gone>
}>() {}

const match = matcher(operationsOf(ControlApi, "ignore"))

/** The only operation whose response contains a key. */
const creatingKeys = "control.createKey"

/** @since 0.1.0 @category layers */
export const layer = (
  access: "loopback" | "anyone",
  local: Local
): Layer.Layer<Control, never, Seeding | AccessRequests | Commits | CurrentLatitude | Faults | RequestLog | VirtualClock | Assumed> =>
  Layer.effect(
    Control,
    Effect.gen(function*() {
      const seeding = yield* Seeding
      const faults = yield* Faults
      const log = yield* RequestLog
      const clock = yield* VirtualClock
      const commits = yield* Commits
      const latitude = yield* CurrentLatitude
      const { maxBodyBytes, maxJsonDepth } = yield* Assumed
      const bodies = { most: maxBodyBytes, maxDepth: maxJsonDepth, receive: () => Effect.dieMessage("no file is uploaded here") }

      const handlers: HandlersOfGroup<typeof ControlGroup, never, null> = {
        health: () => Effect.map(seeding.seed, (seed) => ({ status: "ok", seed })),
        reset: () => seeding.reset,
        state: () => seeding.state,
        requests: ({ urlParams }) => log.read(urlParams),
        readClock: () => clock.read,
        advanceClock: ({ payload }) => clock.advance(payload.millis),
        addFault: ({ payload }) => Effect.map(faults.add(payload), (id) => ({ id })),
        listFaults: () => Effect.map(faults.list, (data) => ({ data })),
        clearFaults: () => faults.clear,
        commits: ({ urlParams }) => commits.read(urlParams),
        readLatitude: () => Effect.sync(() => latitude.value),
        setLatitude: ({ payload }) => latitude.change(payload)
      }
      const table: Readonly<Record<string, AnyHandler<null>>> = { ...handlers, ...(yield* SeedingHandlers.handlers) }

      const mask = KeyMask.make(latitude.keyPrefixes)
      /** Masks keys in every response but the one that creates a key. */
      const withoutKeys = (answer: Answer, operation: string): Answer =>
        operation === creatingKeys || mask.text(answer.body) === answer.body
          ? answer
          : { ...answer, body: JSON.stringify(mask.json(JSON.parse(answer.body))) }

      return {
        answer: (incoming, path) => {
          let operation = "control"
          return Effect.gen(function*() {
            if (access === "loopback" && !local.isLocal(incoming)) {
              return yield* new Forbidden({ message: "the sandbox is steered from its own machine alone" })
            }
            if (!isSameOrigin(incoming, { addressBar: incoming.method === "GET" })) {
              return yield* new Forbidden({
                message: "the sandbox is steered by programs and by its own pages, not by a page of another origin"
              })
            }
            const found = yield* route(match(incoming.method, path), incoming.method, path)
            operation = `control.${found.operation.name}`
            const request = yield* decode(found, incoming, bodies)
            const handler = table[found.operation.name]
            const result = handler === undefined
              ? yield* Effect.dieMessage(`no handler for ${found.operation.name}`)
              // The request was decoded by the schemas of the operation that the handler is typed by.
              : yield* handler(request as never, null)
            return found.operation.encode(result)
          }).pipe(
            (answered) => orEnvelope(answered, () => operation),
            Effect.map((answer) => withoutKeys(answer, operation))
          )
        }
      }
    })
  )
