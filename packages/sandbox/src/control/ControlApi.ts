/**
 * The control API of the sandbox as an `HttpApi`: it inspects and controls a running sandbox. Paths start at the
 * sandbox's root. Errors have the same envelope as the service's.
 *
 * @since 0.1.0
 */
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import { errorResponse } from "@plaza/domain/Errors"
import * as Schema from "effect/Schema"
import { CommitPage, CommitQuery } from "../http/Commits.js"
import { ActiveFault, Fault, FaultId } from "../http/Fault.js"
import { RequestCount, RequestDetail, RequestPage, RequestQuery } from "../http/RequestLog.js"
import { Change, Latitude } from "../Latitude.js"
import { ClockMove } from "../seeding/SeedingModels.js"
import { ClockState } from "../VirtualClock.js"
import { SeedingGroup } from "./SeedingApi.js"
import { SnapshotsGroup } from "./SnapshotsApi.js"
import { StateSnapshot } from "./StateSnapshot.js"

/** @since 0.1.0 @category models */
export const Health = Schema.Struct({
  status: Schema.Literal("ok"),
  seed: Schema.Int
}).annotations({ identifier: "Health" })

/**
 * The endpoints that inspect and control the sandbox.
 *
 * @since 0.1.0
 * @category groups
 */
export class ControlGroup extends HttpApiGroup.make("control", { topLevel: true })
  .add(HttpApiEndpoint.get("health", "/health").addSuccess(Health))
  .add(HttpApiEndpoint.post("reset", "/reset").addSuccess(HttpApiSchema.NoContent))
  .add(HttpApiEndpoint.get("state", "/state").addSuccess(StateSnapshot))
  .add(
    HttpApiEndpoint.get("requests", "/requests")
      .setUrlParams(RequestQuery)
      .addSuccess(Schema.Union(RequestPage, RequestCount))
      .addError(errorResponse("VALIDATION_ERROR"))
  )
  .add(
    HttpApiEndpoint.get("request", "/requests/:id")
      .setPath(Schema.Struct({ id: Schema.String }))
      .addSuccess(RequestDetail)
      .addError(errorResponse("NOT_FOUND"))
  )
  .add(
    HttpApiEndpoint.post("addFault", "/faults")
      .setPayload(Fault)
      .addSuccess(Schema.Struct({ id: FaultId }))
      .addError(errorResponse("INVALID_JSON"))
      .addError(errorResponse("VALIDATION_ERROR"))
      .addError(errorResponse("PAYLOAD_TOO_LARGE"))
  )
  .add(HttpApiEndpoint.get("readClock", "/clock").addSuccess(ClockState))
  .add(
    HttpApiEndpoint.post("advanceClock", "/clock")
      .setPayload(ClockMove)
      .addSuccess(ClockState)
      .addError(errorResponse("INVALID_JSON"))
      .addError(errorResponse("VALIDATION_ERROR"))
      .addError(errorResponse("PAYLOAD_TOO_LARGE"))
  )
  .add(HttpApiEndpoint.get("listFaults", "/faults").addSuccess(Schema.Struct({ data: Schema.Array(ActiveFault) })))
  .add(
    HttpApiEndpoint.put("replaceFault", "/faults/:id")
      .setPath(Schema.Struct({ id: FaultId }))
      .setPayload(Fault)
      .addSuccess(ActiveFault)
      .addError(errorResponse("INVALID_JSON"))
      .addError(errorResponse("VALIDATION_ERROR"))
      .addError(errorResponse("PAYLOAD_TOO_LARGE"))
      .addError(errorResponse("NOT_FOUND"))
  )
  .add(
    HttpApiEndpoint.del("removeFault", "/faults/:id")
      .setPath(Schema.Struct({ id: FaultId }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(errorResponse("NOT_FOUND"))
  )
  .add(HttpApiEndpoint.del("clearFaults", "/faults").addSuccess(HttpApiSchema.NoContent))
  .add(
    HttpApiEndpoint.get("commits", "/commits")
      .setUrlParams(CommitQuery)
      .addSuccess(CommitPage)
      .addError(errorResponse("VALIDATION_ERROR"))
  )
  .add(HttpApiEndpoint.get("readLatitude", "/latitude").addSuccess(Latitude))
  .add(
    HttpApiEndpoint.post("setLatitude", "/latitude")
      .setPayload(Change)
      .addSuccess(Latitude)
      .addError(errorResponse("INVALID_JSON"))
      .addError(errorResponse("VALIDATION_ERROR"))
      .addError(errorResponse("PAYLOAD_TOO_LARGE"))
  )
  .addError(errorResponse("FORBIDDEN"))
  .addError(errorResponse("INTERNAL_ERROR"))
  .prefix("/sandbox")
{}

/**
 * The control API.
 *
 * @example
 * import { HttpApiClient } from "@effect/platform"
 * import { ControlApi } from "@plaza/sandbox"
 *
 * const client = HttpApiClient.make(ControlApi, { baseUrl: "http://127.0.0.1:4010" })
 *
 * @since 0.1.0
 * @category api
 */
export class ControlApi extends HttpApi.make("sandbox").add(ControlGroup).add(SeedingGroup).add(SnapshotsGroup) {}
