/**
 * The control API of the sandbox as an `HttpApi`: it inspects, controls and seeds a running sandbox. Paths start at the
 * sandbox's root. Errors have the same envelope as the service's.
 *
 * @since 0.1.0
 */
import type { ErrorCode } from "@plaza/domain/Errors"
import * as Contract from "@plaza/domain/OpenApi"
import { errorResponse } from "@plaza/domain/PlazaApi"
import * as Context from "effect/Context"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { CommitPage, CommitQuery } from "../http/Commits.ts"
import { ActiveFault, Fault, FaultId, FaultList } from "../http/Fault.ts"
import { maxItems } from "../http/RecordPage.ts"
import { RequestCount, RequestDetail, RequestPage, RequestQuery } from "../http/RequestLog.ts"
import { Change, Latitude } from "../Latitude.ts"
import { ClockMove } from "../seeding/SeedingModels.ts"
import { Snapshot } from "../seeding/Snapshots.ts"
import { StateSnapshot } from "../seeding/StateSnapshot.ts"
import { ClockState } from "../VirtualClock.ts"
import { CreatedWorld, NewWorld, WorldInfo } from "../worlds/WorldModels.ts"
import { SeedingGroup } from "./SeedingApi.ts"

/**
 * Reads the body of a request, and gives every response the form of the document.
 *
 * @since 0.1.0
 * @category middleware
 */
export class ControlMiddleware extends HttpApiMiddleware.Service<ControlMiddleware>()("@plaza/sandbox/ControlMiddleware") {}

/** The path prefix of the control API. */
const prefix = "/sandbox"

/** The texts of an endpoint in the OpenAPI document. */
const described = (summary: string, description: string): Context.Context<OpenApi.Summary | OpenApi.Description> =>
  Context.make(OpenApi.Summary, summary).pipe(Context.add(OpenApi.Description, description))

/** The errors of any endpoint of a group, and of one of its endpoints. */
const errors = <const Codes extends ReadonlyArray<ErrorCode>>(...codes: Codes) =>
  [...codes, "FORBIDDEN" as const, "INTERNAL_ERROR" as const].map((code) =>
    errorResponse<Codes[number] | "FORBIDDEN" | "INTERNAL_ERROR">(code)
  )

const json = ["INVALID_JSON", "VALIDATION_ERROR", "PAYLOAD_TOO_LARGE"] as const

/** @since 0.1.0 @category models */
export const Health = Schema.Struct({
  status: Schema.Literal("ok"),
  seed: Schema.Int
}).annotate({ identifier: "Health" })

/** A JSON document of another format. */
const Document = Schema.Record(Schema.String, Schema.Unknown)

const byFault = { id: FaultId }

/**
 * The endpoints that inspect and control the sandbox.
 *
 * @since 0.1.0
 * @category groups
 */
export class ControlGroup extends HttpApiGroup.make("control", { topLevel: true })
  .add(
    HttpApiEndpoint.get("health", "/health", { disableCodecs: true, success: Health, error: errors() })
      .annotateMerge(described("Check that the sandbox is ready", "Returns the status `ok` and the seed.")),
    HttpApiEndpoint.post("reset", "/reset", { disableCodecs: true, success: HttpApiSchema.NoContent, error: errors() })
      .annotateMerge(
        described("Reset the sandbox",
          "Restores the initial data, time and service variant, and clears faults, rate counters and logs. Keeps snapshots and worlds.")
      ),
    HttpApiEndpoint.get("state", "/state", { disableCodecs: true, success: StateSnapshot, error: errors() })
      .annotateMerge(described("Read the state", "Returns all data: keys without their values, and files without their bytes.")),
    HttpApiEndpoint.get("requests", "/requests", {
      disableCodecs: true,
      query: RequestQuery.fields,
      success: [RequestPage, RequestCount],
      error: errors("VALIDATION_ERROR")
    }).annotateMerge(
      described("List or count requests",
        "Returns the newest requests, each with the rule that decided it, or only their number if `count` is set. In all filters `*` matches any run of characters.")
    ),
    HttpApiEndpoint.get("request", "/requests/:id", {
      disableCodecs: true,
      params: { id: Schema.String },
      success: RequestDetail,
      error: errors("NOT_FOUND")
    }).annotateMerge(described("Read a request", "Returns a request of the log with its headers and bodies. Keys are masked.")),
    HttpApiEndpoint.post("addFault", "/faults", {
      disableCodecs: true,
      payload: Fault,
      success: Schema.Struct({ id: FaultId }),
      error: errors(...json)
    }).annotateMerge(described("Add a fault", "Adds a fault for the next matching calls.")),
    HttpApiEndpoint.get("readClock", "/clock", { disableCodecs: true, success: ClockState, error: errors() })
      .annotateMerge(described("Read the clock", "Returns the time of the sandbox.")),
    HttpApiEndpoint.post("advanceClock", "/clock", {
      disableCodecs: true,
      payload: ClockMove,
      success: ClockState,
      error: errors(...json)
    }).annotateMerge(described("Advance the clock", "Advances the clock of the sandbox. Only a reset sets it back.")),
    HttpApiEndpoint.get("listFaults", "/faults", {
      disableCodecs: true,
      success: FaultList,
      error: errors()
    }).annotateMerge(
      described("List the active faults",
        "Returns the active faults with their counters, and as `unused` the faults that have hit no call.")
    ),
    HttpApiEndpoint.put("replaceFault", "/faults/:id", {
      disableCodecs: true,
      params: byFault,
      payload: Fault,
      success: ActiveFault,
      error: errors(...json, "NOT_FOUND")
    }).annotateMerge(described("Replace a fault", "Replaces an active fault in its place. Its counters start again.")),
    HttpApiEndpoint.delete("removeFault", "/faults/:id", {
      disableCodecs: true,
      params: byFault,
      success: HttpApiSchema.NoContent,
      error: errors("NOT_FOUND")
    }).annotateMerge(described("Remove a fault", "Removes an active fault. A fault that has used up its `times` is no longer active.")),
    HttpApiEndpoint.delete("clearFaults", "/faults", { disableCodecs: true, success: HttpApiSchema.NoContent, error: errors() })
      .annotateMerge(described("Remove all faults", "Removes all active faults.")),
    HttpApiEndpoint.get("commits", "/commits", {
      disableCodecs: true,
      query: CommitQuery.fields,
      success: CommitPage,
      error: errors("VALIDATION_ERROR")
    }).annotateMerge(
      described("List writes", "Returns the committed writes as they were sent, oldest first, whatever the callers received.")
    ),
    HttpApiEndpoint.get("readLatitude", "/latitude", { disableCodecs: true, success: Latitude, error: errors() })
      .annotateMerge(described("Read the service variant", "Returns the current choices where the interface lets a service choose.")),
    HttpApiEndpoint.post("setLatitude", "/latitude", {
      disableCodecs: true,
      payload: Change,
      success: Latitude,
      error: errors(...json)
    }).annotateMerge(described("Change the service variant", "Sets some fields. With `seed`, draws all the others.")),
    HttpApiEndpoint.get("openApi", "/openapi.json", { disableCodecs: true, success: Document, error: errors() })
      .annotateMerge(described("Read the OpenAPI document of this API", "Returns the OpenAPI document of this API.")),
    HttpApiEndpoint.get("postman", "/postman.json", { disableCodecs: true, success: Document, error: errors() })
      .annotateMerge(
        described("Read a Postman collection of the interface",
          "Returns a Postman collection (format 2.1) of the interface, with the base URL of this sandbox and without a key. Bruno and Insomnia import it too.")
      )
  )
  .annotate(OpenApi.Description, "Inspects and controls the sandbox")
{}

// Names consist of characters that need no encoding in a path.
const byName = { name: Schema.String }

const NewSnapshot = Schema.Struct({ name: Schema.String }).annotate({ identifier: "NewSnapshot" })

/**
 * The endpoints of snapshots.
 *
 * @since 0.1.0
 * @category groups
 */
export class SnapshotsGroup extends HttpApiGroup.make("snapshots")
  .add(
    HttpApiEndpoint.get("list", "/snapshots", {
      disableCodecs: true,
      success: Schema.Struct({ data: Schema.Array(Snapshot) }),
      error: errors()
    }).annotateMerge(described("List the snapshots", "Returns the saved snapshots, oldest first.")),
    HttpApiEndpoint.post("save", "/snapshots", {
      disableCodecs: true,
      payload: NewSnapshot,
      success: Snapshot,
      error: errors(...json)
    }).annotateMerge(
      described("Save a snapshot",
        "Saves all data under a name: 1 to 100 letters, digits, dots, dashes or underscores. Replaces a snapshot of the same name.")
    ),
    HttpApiEndpoint.post("restore", "/snapshots/:name/restore", {
      disableCodecs: true,
      params: byName,
      success: HttpApiSchema.NoContent,
      error: errors("NOT_FOUND")
    }).annotateMerge(described("Restore a snapshot", "Replaces all data and the offset of the clock with those of the snapshot.")),
    HttpApiEndpoint.delete("remove", "/snapshots/:name", {
      disableCodecs: true,
      params: byName,
      success: HttpApiSchema.NoContent,
      error: errors("NOT_FOUND")
    }).annotateMerge(described("Remove a snapshot", "Removes a snapshot. The current data stays."))
  )
  .annotate(OpenApi.Description, "Saves and restores all data under names")
{}

/**
 * The endpoints of worlds. Those of the main sandbox: a world has none of its own.
 *
 * @since 0.1.0
 * @category groups
 */
export class WorldsGroup extends HttpApiGroup.make("worlds")
  .add(
    HttpApiEndpoint.post("create", "/worlds", {
      disableCodecs: true,
      payload: NewWorld,
      success: CreatedWorld,
      error: errors(...json, "NOT_FOUND", "CONFLICT")
    }).annotateMerge(
      described("Create a world",
        "Creates a sandbox in this process with its own URLs, data, keys, clock, faults, limits and log. Returns its URLs and the key of its shop.")
    ),
    HttpApiEndpoint.get("list", "/worlds", {
      disableCodecs: true,
      success: Schema.Struct({ data: Schema.Array(WorldInfo) }),
      error: errors("NOT_FOUND")
    }).annotateMerge(described("List the worlds", "Returns the worlds, oldest first, without keys.")),
    HttpApiEndpoint.delete("remove", "/worlds/:id", {
      disableCodecs: true,
      params: { id: Schema.String },
      success: HttpApiSchema.NoContent,
      error: errors("NOT_FOUND")
    }).annotateMerge(described("Remove a world", "Closes its connections and deletes its data."))
  )
  .annotate(OpenApi.Description, "Creates sandboxes in the same process")
{}

/** Replaces unions in unions. */
const flatten = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(flatten)
    : Predicate.isObject(value)
    ? Object.fromEntries(
      Object.entries(value).map(([name, item]) => [
        name,
        name === "anyOf" && Array.isArray(item) ? item.flatMap(membersOf).map(flatten) : flatten(item)
      ])
    )
    : value

/** The members of a union without other keywords. */
const membersOf = (schema: unknown): ReadonlyArray<unknown> => {
  const members: unknown = Predicate.isObject(schema) && Object.keys(schema).length === 1 ? Reflect.get(schema, "anyOf") : undefined
  return Array.isArray(members) ? members.flatMap(membersOf) : [schema]
}

const contract = Contract.transformWith({ open: false, maxLimit: maxItems })

/** As the document of the contract, with flat unions and without a key. Unknown fields are refused. */
const transform = (generated: Record<string, unknown>): Record<string, unknown> => ({
  ...Object.fromEntries(Object.entries(contract(generated)).map(([name, value]) => [name, flatten(value)])),
  // Without it, linters report that no operation says which key it requires.
  security: []
})

/**
 * The control API.
 *
 * @example
 * import { ControlApi } from "@plaza/sandbox"
 * import { Effect } from "effect"
 * import { HttpApiClient } from "effect/http-api"
 *
 * const health = HttpApiClient.make(ControlApi, { baseUrl: "http://127.0.0.1:4010" }).pipe(
 *   Effect.flatMap(({ health }) => health())
 * )
 * // => { status: "ok", seed: 1 }
 *
 * @since 0.1.0
 * @category api
 */
export class ControlApi extends HttpApi.make("sandbox")
  .add(ControlGroup, SeedingGroup, SnapshotsGroup, WorldsGroup)
  .prefix(prefix)
  .middleware(ControlMiddleware)
  .annotate(HttpApi.ParamsParseOptions, { reportInput: true })
  // An unknown field is usually a misspelt one.
  .annotate(HttpApi.QueryParseOptions, { reportInput: true, onExcessProperty: "error" })
  .annotate(HttpApi.PayloadParseOptions, { reportInput: true, onExcessProperty: "error" })
  .annotate(OpenApi.Title, "Control API of the Plaza sandbox")
  .annotate(OpenApi.Version, "1")
  .annotate(OpenApi.Description,
    "Inspects, controls and seeds a running sandbox. It accepts requests from this machine only and requires no key.")
  .annotate(OpenApi.License, { name: "MIT", url: "https://opensource.org/license/mit" })
  .annotate(OpenApi.Servers, [{ url: "http://127.0.0.1:4010", description: "A sandbox on its default port" }])
  .annotate(OpenApi.Transform, transform)
{}
