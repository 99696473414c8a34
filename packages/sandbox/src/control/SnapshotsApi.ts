/**
 * The part of the control API that saves and restores snapshots.
 *
 * @since 0.1.0
 */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import { errorResponse } from "@plaza/domain/Errors"
import * as Schema from "effect/Schema"
import { Snapshot } from "../storage/Snapshots.js"

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
  .add(HttpApiEndpoint.get("list", "/snapshots").addSuccess(Schema.Struct({ data: Schema.Array(Snapshot) })))
  .add(
    HttpApiEndpoint.post("save", "/snapshots")
      .setPayload(NewSnapshot)
      .addSuccess(Snapshot)
      .addError(errorResponse("INVALID_JSON"))
      .addError(errorResponse("VALIDATION_ERROR"))
      .addError(errorResponse("PAYLOAD_TOO_LARGE"))
  )
  .add(
    HttpApiEndpoint.post("restore", "/snapshots/:name/restore")
      .setPath(byName)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(errorResponse("NOT_FOUND"))
  )
  .add(
    HttpApiEndpoint.del("remove", "/snapshots/:name")
      .setPath(byName)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(errorResponse("NOT_FOUND"))
  )
  .addError(errorResponse("FORBIDDEN"))
  .addError(errorResponse("INTERNAL_ERROR"))
  .prefix("/sandbox")
{}
