/**
 * Handlers of `ControlGroup`.
 *
 * @since 0.1.0
 */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { Commits } from "../http/Commits.js"
import { Faults } from "../http/Faults.js"
import { RequestLog } from "../http/RequestLog.js"
import { toItsEnd } from "../http/RequiresAdmission.js"
import { CurrentLatitude } from "../latitude/CurrentLatitude.js"
import { Seeding } from "../seeding/Seeding.js"
import { VirtualClock } from "../VirtualClock.js"
import { ServedControlApi } from "./ServedControlApi.js"

/** @since 0.1.0 @category layers */
export const layer = HttpApiBuilder.group(ServedControlApi, "control", (handlers) =>
  Effect.gen(function*() {
    const seeding = yield* Seeding
    const faults = yield* Faults
    const log = yield* RequestLog
    const clock = yield* VirtualClock
    const commits = yield* Commits
    const latitude = yield* CurrentLatitude
    return handlers
      .handle("health", () => Effect.map(seeding.seed, (seed) => ({ status: "ok" as const, seed })), toItsEnd)
      .handle("reset", () => seeding.reset, toItsEnd)
      .handle("state", () => seeding.state, toItsEnd)
      .handle("requests", ({ urlParams }) => log.read(urlParams), toItsEnd)
      .handle("readClock", () => clock.read, toItsEnd)
      .handle("advanceClock", ({ payload }) => clock.advance(payload.millis), toItsEnd)
      .handle("addFault", ({ payload }) => Effect.map(faults.add(payload), (id) => ({ id })), toItsEnd)
      .handle("listFaults", () => Effect.map(faults.list, (data) => ({ data })), toItsEnd)
      .handle("clearFaults", () => faults.clear, toItsEnd)
      .handle("commits", ({ urlParams }) => commits.read(urlParams), toItsEnd)
      .handle("readLatitude", () => Effect.sync(() => latitude.value), toItsEnd)
      .handle("setLatitude", ({ payload }) => latitude.change(payload), toItsEnd)
  }))
