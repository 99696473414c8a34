/**
 * The part of the control API that saves and restores snapshots.
 *
 * @since 0.1.0
 */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { errorResponse } from "@plaza-legacy/domain/ErrorSchema"
import * as Schema from "effect/Schema"
import { Snapshot } from "../storage/Snapshots.ts"
import { described } from "./Described.ts"

// Names consist of characters that need no encoding in a path.
const byName = Schema.Struct({ name: Schema.String })

const NewSnapshot = Schema.Struct({ name: Schema.String }).annotations({
  identifier: "NewSnapshot",
  parseOptions: { onExcessProperty: "error" }
})

/**
 * The endpoints of snapshots.
 *
 * @since 0.1.0
 * @category groups
 */
export class SnapshotsGroup extends HttpApiGroup.make("snapshots")
  .add(HttpApiEndpoint.get("list", "/snapshots").annotateContext(
    described("List the snapshots", "Returns the saved snapshots, oldest first.")
  ).addSuccess(Schema.Struct({ data: Schema.Array(Snapshot) })))
  .add(
    HttpApiEndpoint.post("save", "/snapshots").annotateContext(
      described("Save a snapshot", "Saves all data under a name. Replaces a snapshot of the same name.")
    )
      .setPayload(NewSnapshot)
      .addSuccess(Snapshot)
      .addError(errorResponse("INVALID_JSON"))
      .addError(errorResponse("VALIDATION_ERROR"))
      .addError(errorResponse("PAYLOAD_TOO_LARGE"))
  )
  .add(
    HttpApiEndpoint.post("restore", "/snapshots/:name/restore").annotateContext(
      described("Restore a snapshot", "Replaces all data by a snapshot, the offset of the clock included.")
    )
      .setPath(byName)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(errorResponse("NOT_FOUND"))
  )
  .add(
    HttpApiEndpoint.del("remove", "/snapshots/:name").annotateContext(
      described("Remove a snapshot", "Removes a snapshot. The current data stays.")
    )
      .setPath(byName)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(errorResponse("NOT_FOUND"))
  )
  .addError(errorResponse("FORBIDDEN"))
  .addError(errorResponse("INTERNAL_ERROR"))
  .prefix("/sandbox")
  .annotate(OpenApi.Description, "Saves and restores all data under names")
{}
