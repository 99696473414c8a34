/**
 * Answers the control interface: by default to programs on this machine and the sandbox's own pages only, since whoever
 * may call it may do anything.
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
import * as Scene from "./SeedingHandlers.js"
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
import { Setup } from "../seeding/Seeding.js"
import { VirtualClock } from "../VirtualClock.js"

/**
 * Where the control interface begins.
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

/** The one operation whose answer has a key in it. */
const creatingKeys = "control.createKey"

/** @since 0.1.0 @category layers */
export const layer = (
  access: "loopback" | "anyone",
  local: Local
): Layer.Layer<Control, never, Setup | AccessRequests | Commits | CurrentLatitude | Faults | RequestLog | VirtualClock | Assumed> =>
  Layer.effect(
    Control,
    Effect.gen(function*() {
      const setup = yield* Setup
      const faults = yield* Faults
      const log = yield* RequestLog
      const clock = yield* VirtualClock
      const commits = yield* Commits
      const latitude = yield* CurrentLatitude
      const { maxBodyBytes, maxJsonDepth } = yield* Assumed
      const bodies = { most: maxBodyBytes, maxDepth: maxJsonDepth, receive: () => Effect.dieMessage("no file is uploaded here") }

      const handlers: HandlersOfGroup<typeof ControlGroup, never, null> = {
        health: () => Effect.map(setup.seed, (seed) => ({ status: "ok", seed })),
        reset: () => setup.reset,
        state: () => setup.state,
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
      const table: Readonly<Record<string, AnyHandler<null>>> = { ...handlers, ...(yield* Scene.handlers) }

      const mask = KeyMask.make(latitude.keyPrefixes)
      /** What the sandbox holds is shown with keys masked, save the one key that has just been made. */
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
              // Decoded by the schemas of the operation that the handler was written for.
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
