/** Applies product rules to the snapshots of a source. An edit of the rules file applies to the next snapshot. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { Wording } from "../../Wording.ts"
import type { Source, SourceFailure } from "../Source.ts"
import * as WholeFile from "../WholeFile.ts"
import * as ProductRules from "./ProductRules.ts"
import * as RulesFile from "./RulesFile.ts"

export interface RuleOptions {
  readonly all: ProductRules.Adjustment
  readonly unmapped: ProductRules.ProductRules["unmapped"]
  /** The path of the rules file. */
  readonly path: string | undefined
}

interface Opened {
  readonly version: string
  readonly products: ProductRules.ProductRules["products"]
  /** Ends, or fails if the rules file has changed since. */
  readonly unchanged: Stream.Stream<never, SourceFailure>
}

type Finished = Omit<WholeFile.FinishedOptions, "doneMarker">

/** Reads the rules file again after each change. */
const fromFile = Effect.fnUntraced(function*(path: string, { settle, unfinishedWait, whileSettling }: Finished) {
  const { place } = yield* Wording
  const file = yield* WholeFile.make({
    path,
    settle,
    unfinishedWait,
    whileSettling,
    lines: true,
    advice: `Name another rules file with ${place("rules")}`
  })
  let last: Opened | undefined
  const open: Effect.Effect<Opened, SourceFailure> = Effect.gen(function*() {
    const found = yield* file.open(Option.fromUndefinedOr(last?.version))
    if (Option.isNone(found) && last !== undefined) return last
    const { bytes, version } = Option.getOrThrow(found)
    const unchanged = file.unchanged(version)
    last = { version, products: yield* RulesFile.read(path, Stream.concat(bytes, unchanged)), unchanged }
    return last
  })
  return open
})

const withoutFile: Opened = { version: "", products: new Map(), unchanged: Stream.empty }

/** The source with the rules applied to its snapshots. An invalid rules file fails the whole snapshot. */
export const make = Effect.fnUntraced(function*(source: Source["Service"], { all, path, unmapped, ...finished }: RuleOptions & Finished) {
  const { named } = yield* Wording
  const file = path === undefined ? Effect.succeed(withoutFile) : yield* fromFile(path, finished)
  const open: Source["Service"]["open"] = (accepted) =>
    Effect.gen(function*() {
      const { products, unchanged, version } = yield* file
      const rules = { all, unmapped, products }
      const apply = ProductRules.apply(rules, named("unmapped"))
      // The same source under other rules is another snapshot.
      const prefix = `${version}\n`
      const known = Option.filter(accepted, (before) => before.startsWith(prefix))
      return Option.map(yield* source.open(Option.map(known, (before) => before.slice(prefix.length))), (snapshot) => ({
        ...snapshot,
        version: Option.map(snapshot.version, (own) => `${prefix}${own}`),
        excluded: ProductRules.excluded(rules),
        adjustments: ProductRules.adjustments(rules),
        rows: Stream.concat(Stream.filterMap(snapshot.rows, (row) => Result.fromNullishOr(apply(row), () => undefined)), unchanged)
      }))
    })
  return { ...source, open }
})
