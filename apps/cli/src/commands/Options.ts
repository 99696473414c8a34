/** The flags that several commands share. */
import { UsageError } from "@plaza/cli-kit/CliError"
import * as Flags from "@plaza/cli-kit/Flags"
import type { ListOptions } from "@plaza/client"
import { Cursor } from "@plaza/domain/Ids"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

const defaultLimit = 20

/** `--limit`, `--all` and `--cursor` of a list. */
export const paging = {
  limit: Flag.optional(Flag.withAlias(
    Flags.wholeNumber("limit", { min: 1, description: `The maximum number of items (default: ${defaultLimit}).` }),
    "n"
  )),
  all: Flag.withAlias(Flags.boolean("all", "Print the whole list."), "a"),
  cursor: Flag.optional(Flags.text("cursor", "C", "Start at the page of this cursor (default: the first page)."))
}

/** The list options of the client. */
export const listOptions = (
  { all, cursor, limit }: { readonly limit: Option.Option<number>; readonly all: boolean; readonly cursor: Option.Option<string> }
): Effect.Effect<ListOptions, UsageError> =>
  all && Option.isSome(limit)
    ? Effect.fail(new UsageError({ message: "--limit and --all can't be used together: remove one of them" }))
    : Effect.succeed({
      ...(all ? {} : { limit: Option.getOrElse(limit, () => defaultLimit) }),
      ...(Option.isSome(cursor) ? { cursor: Cursor.make(cursor.value) } : {})
    })
