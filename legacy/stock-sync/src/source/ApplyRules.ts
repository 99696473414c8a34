/** Applies product rules to the snapshots of a source. An edit of the rules file applies to the next snapshot. */
import type * as FileSystem from "@effect/platform/FileSystem"
import type { Row } from "@plaza-legacy/tabular/Stock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Wording } from "../config/Wording.ts"
import * as ProductRules from "./ProductRules.ts"
import * as RulesFile from "./RulesFile.ts"
import type { Source, SourceFailure } from "./Source.ts"
import * as WholeFile from "./WholeFile.ts"

export interface RuleOptions {
  readonly all: ProductRules.Adjustment
  readonly unmapped: ProductRules.ProductRules["unmapped"]
  /** The path of the rules file. */
  readonly path: string | undefined
}

interface Opened {
  readonly version: string
  readonly rules: ProductRules.ProductRules
  /** Ends, or fails if the rules file has changed since. */
  readonly unchanged: Stream.Stream<never, SourceFailure>
}

/** Reads the rules file again after each change. */
const fromFile = (
  path: string,
  { all, settle, unfinishedWait, unmapped }: Options
): Effect.Effect<Effect.Effect<Opened, SourceFailure>, never, FileSystem.FileSystem> =>
  Effect.map(
    Effect.flatMap(Wording,
      ({ place }) =>
        WholeFile.make({ path, settle, unfinishedWait, lines: true, advice: `Name another rules file with ${place("rules")}` })),
    (file) => {
      let last: Opened | undefined
      return Effect.gen(function*() {
        const found = yield* file.open(Option.fromNullable(last?.version))
        if (Option.isNone(found) && last !== undefined) return last
        const { bytes, version } = Option.getOrThrow(found)
        const unchanged = file.unchanged(version)
        const products = yield* RulesFile.read(path, Stream.concat(bytes, unchanged))
        last = { version, rules: { all, unmapped, products }, unchanged }
        return last
      })
    }
  )

type Options = RuleOptions & Pick<WholeFile.FinishedOptions, "settle" | "unfinishedWait">

/** The source with the rules applied to its snapshots. An invalid rules file fails the whole snapshot. */
export const make = (
  source: Source["Type"],
  options: Options
): Effect.Effect<Source["Type"], never, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const { all, path, unmapped } = options
    const { named } = yield* Wording
    const rules = path === undefined
      ? Effect.succeed<Opened>({ version: "", rules: { all, unmapped, products: new Map() }, unchanged: Stream.empty })
      : yield* fromFile(path, options)

    return {
      ...source,
      open: (accepted) =>
        Effect.gen(function*() {
          const opened = yield* rules
          // The same source under other rules is another snapshot.
          const known = Option.filterMap(accepted,
            (version) => version.startsWith(`${opened.version}\n`) ? Option.some(version.slice(opened.version.length + 1)) : Option.none())
          const apply = ProductRules.apply(opened.rules, named("unmapped"))
          return Option.map(yield* source.open(known), (snapshot) => ({
            ...snapshot,
            version: Option.map(snapshot.version, (version) => `${opened.version}\n${version}`),
            excluded: ProductRules.excluded(opened.rules),
            adjustments: ProductRules.adjustments(opened.rules),
            rows: Stream.concat(Stream.filterMap(snapshot.rows, (row: Row) => Option.fromNullable(apply(row))), opened.unchanged)
          }))
        })
    }
  })
