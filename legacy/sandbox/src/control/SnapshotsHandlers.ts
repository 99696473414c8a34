/**
 * Handlers of `SnapshotsGroup`.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Endpoints from "../http/Endpoints.ts"
import { Snapshots } from "../storage/Snapshots.ts"
import { servedControl } from "./ServedControlApi.ts"
import { SnapshotsGroup } from "./SnapshotsApi.ts"

/** @since 0.1.0 @category handlers */
export const group = Endpoints.group(servedControl, SnapshotsGroup, (handlers) =>
  Effect.map(Snapshots, (snapshots) =>
    handlers
      .handle("list", () => Effect.map(snapshots.list, (data) => ({ data })))
      .handle("save", ({ payload: { name } }) => snapshots.save(name))
      .handle("restore", ({ path: { name } }) => snapshots.restore(name))
      .handle("remove", ({ path: { name } }) => snapshots.remove(name))))
