/** The arguments and options of `revert`, for one store and for an account of a fleet. */
import * as Flags from "@plaza/cli-kit/Flags"
import * as Argument from "effect/cli/Argument"

export const flags = {
  snapshot: Argument.optional(
    Flags.parsedArgument("SNAPSHOT", "The number of the snapshot (default: lists the snapshots).",
      Flags.parseWholeNumber("SNAPSHOT", { min: 1 }))
  ),
  dryRun: Flags.boolean("dry-run", "Show what would change, and change nothing."),
  confirmed: Flags.boolean("confirm", "Revert although the drop guard would hold it.")
}
