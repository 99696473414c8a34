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
import { uninterruptible } from "../http/RequiresAdmission.js"
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
      .handle("health", () => Effect.map(seeding.seed, (seed) => ({ status: "ok" as const, seed })), uninterruptible)
      .handle("reset", () => seeding.reset, uninterruptible)
      .handle("state", () => seeding.state, uninterruptible)
      .handle("requests", ({ urlParams }) => log.read(urlParams), uninterruptible)
      .handle("readClock", () => clock.read, uninterruptible)
      .handle("advanceClock", ({ payload }) => clock.advance(payload.millis), uninterruptible)
      .handle("addFault", ({ payload }) => Effect.map(faults.add(payload), (id) => ({ id })), uninterruptible)
      .handle("listFaults", () => Effect.map(faults.list, (data) => ({ data })), uninterruptible)
      .handle("clearFaults", () => faults.clear, uninterruptible)
      .handle("commits", ({ urlParams }) => commits.read(urlParams), uninterruptible)
      .handle("readLatitude", () => Effect.sync(() => latitude.value), uninterruptible)
      .handle("setLatitude", ({ payload }) => latitude.change(payload), uninterruptible)
  }))
