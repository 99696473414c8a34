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
import * as OpenApi from "@effect/platform/OpenApi"
import { errorResponse } from "@plaza-legacy/domain/ErrorSchema"
import * as Schema from "effect/Schema"
import { CommitPage, CommitQuery } from "../http/Commits.ts"
import { ActiveFault, Fault, FaultId } from "../http/Fault.ts"
import { RequestCount, RequestDetail, RequestPage, RequestQuery } from "../http/RequestLog.ts"
import { Change, Latitude } from "../Latitude.ts"
import { ClockMove } from "../seeding/SeedingModels.ts"
import { ClockState } from "../VirtualClock.ts"
import { transform } from "./ControlOpenApi.ts"
import { described } from "./Described.ts"
import { SeedingGroup } from "./SeedingApi.ts"
import { SnapshotsGroup } from "./SnapshotsApi.ts"
import { StateSnapshot } from "./StateSnapshot.ts"

/** @since 0.1.0 @category models */
export const Health = Schema.Struct({
  status: Schema.Literal("ok"),
  seed: Schema.Int
}).annotations({ identifier: "Health" })

/** A JSON document of another format. */
const Document = Schema.Record({ key: Schema.String, value: Schema.Unknown })

/**
 * The endpoints that inspect and control the sandbox.
 *
 * @since 0.1.0
 * @category groups
 */
export class ControlGroup extends HttpApiGroup.make("control", { topLevel: true })
  .add(
    HttpApiEndpoint.get("health", "/health").annotateContext(
      described("Check that the sandbox is ready", "Returns the status `ok` and the seed.")
    ).addSuccess(Health)
  )
  .add(
    HttpApiEndpoint.post("reset", "/reset").annotateContext(
      described("Reset the sandbox", "Restores the initial data and the initial time, and clears faults, rate counters and logs.")
    ).addSuccess(HttpApiSchema.NoContent)
  )
  .add(
    HttpApiEndpoint.get("state", "/state").annotateContext(
      described("Read the state", "Returns all data: keys without their values, and files without their bytes.")
    ).addSuccess(StateSnapshot)
  )
  .add(
    HttpApiEndpoint.get("requests", "/requests").annotateContext(
      described("List or count requests",
        "Returns the newest requests with the rule that decided each, or with `count` only their number. In all filters `*` matches any run of characters.")
    )
      .setUrlParams(RequestQuery)
      .addSuccess(Schema.Union(RequestPage, RequestCount))
      .addError(errorResponse("VALIDATION_ERROR"))
  )
  .add(
    HttpApiEndpoint.get("request", "/requests/:id").annotateContext(
      described("Read a request", "Returns a request of the log with its headers and bodies, without keys.")
    )
      .setPath(Schema.Struct({ id: Schema.String }))
      .addSuccess(RequestDetail)
      .addError(errorResponse("NOT_FOUND"))
  )
  .add(
    HttpApiEndpoint.post("addFault", "/faults").annotateContext(
      described("Add a fault", "Adds a fault, which hits the next matching calls of the interface.")
    )
      .setPayload(Fault)
      .addSuccess(Schema.Struct({ id: FaultId }))
      .addError(errorResponse("INVALID_JSON"))
      .addError(errorResponse("VALIDATION_ERROR"))
      .addError(errorResponse("PAYLOAD_TOO_LARGE"))
  )
  .add(
    HttpApiEndpoint.get("readClock", "/clock").annotateContext(described("Read the clock", "Returns the time of the sandbox.")).addSuccess(
      ClockState
    )
  )
  .add(
    HttpApiEndpoint.post("advanceClock", "/clock").annotateContext(
      described("Advance the clock", "Advances the clock of the sandbox. Only a reset sets it back.")
    )
      .setPayload(ClockMove)
      .addSuccess(ClockState)
      .addError(errorResponse("INVALID_JSON"))
      .addError(errorResponse("VALIDATION_ERROR"))
      .addError(errorResponse("PAYLOAD_TOO_LARGE"))
  )
  .add(
    HttpApiEndpoint.get("listFaults", "/faults").annotateContext(
      described("List the active faults", "Returns the faults that may still hit a call, with their counters.")
    ).addSuccess(Schema.Struct({ data: Schema.Array(ActiveFault) }))
  )
  .add(
    HttpApiEndpoint.put("replaceFault", "/faults/:id").annotateContext(
      described("Replace a fault", "Replaces an active fault in its place. Its counters start again.")
    )
      .setPath(Schema.Struct({ id: FaultId }))
      .setPayload(Fault)
      .addSuccess(ActiveFault)
      .addError(errorResponse("INVALID_JSON"))
      .addError(errorResponse("VALIDATION_ERROR"))
      .addError(errorResponse("PAYLOAD_TOO_LARGE"))
      .addError(errorResponse("NOT_FOUND"))
  )
  .add(
    HttpApiEndpoint.del("removeFault", "/faults/:id").annotateContext(
      described("Remove a fault", "Removes an active fault. A fault whose times are used up is no longer active.")
    )
      .setPath(Schema.Struct({ id: FaultId }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(errorResponse("NOT_FOUND"))
  )
  .add(
    HttpApiEndpoint.del("clearFaults", "/faults").annotateContext(described("Remove all faults", "Removes all active faults.")).addSuccess(
      HttpApiSchema.NoContent
    )
  )
  .add(
    HttpApiEndpoint.get("commits", "/commits").annotateContext(
      described("List writes", "Returns the writes that were carried out, as they were sent, whatever their callers received.")
    )
      .setUrlParams(CommitQuery)
      .addSuccess(CommitPage)
      .addError(errorResponse("VALIDATION_ERROR"))
  )
  .add(
    HttpApiEndpoint.get("readLatitude", "/latitude").annotateContext(
      described("Read the latitude", "Returns the current latitude: behaviour that the interface lets a service choose.")
    ).addSuccess(Latitude)
  )
  .add(
    HttpApiEndpoint.post("setLatitude", "/latitude").annotateContext(
      described("Change the latitude", "Changes some fields of the latitude, or draws all of them from a seed.")
    )
      .setPayload(Change)
      .addSuccess(Latitude)
      .addError(errorResponse("INVALID_JSON"))
      .addError(errorResponse("VALIDATION_ERROR"))
      .addError(errorResponse("PAYLOAD_TOO_LARGE"))
  )
  .add(
    HttpApiEndpoint.get("openApi", "/openapi.json").annotateContext(
      described("Read the OpenAPI document of this API", "Returns the document that you are reading.")
    ).addSuccess(Document)
  )
  .add(
    HttpApiEndpoint.get("postman", "/postman.json").annotateContext(
      described("Read a Postman collection of the interface",
        "Returns a collection of format 2.1 with the base URL of this sandbox and without a key.")
    ).addSuccess(Document)
  )
  .addError(errorResponse("FORBIDDEN"))
  .addError(errorResponse("INTERNAL_ERROR"))
  .prefix("/sandbox")
  .annotate(OpenApi.Description, "Inspects and controls the sandbox")
{}

/**
 * The control API.
 *
 * @example
 * import { HttpApiClient } from "@effect/platform"
 * import { ControlApi } from "@plaza-legacy/sandbox"
 *
 * const client = HttpApiClient.make(ControlApi, { baseUrl: "http://127.0.0.1:4010" })
 *
 * @since 0.1.0
 * @category api
 */
export class ControlApi extends HttpApi.make("sandbox")
  .add(ControlGroup)
  .add(SeedingGroup)
  .add(SnapshotsGroup)
  .annotate(OpenApi.Title, "Control API of the Plaza sandbox")
  .annotate(OpenApi.Version, "1")
  .annotate(OpenApi.Description,
    "Inspects, controls and seeds a running sandbox. It accepts requests from this machine only and requires no key.")
  .annotate(OpenApi.License, { name: "MIT", url: "https://opensource.org/license/mit" })
  .annotate(OpenApi.Servers, [{ url: "http://127.0.0.1:4010", description: "A sandbox on its default port" }])
  .annotate(OpenApi.Transform, transform)
{}
