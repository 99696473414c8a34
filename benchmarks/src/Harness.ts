/** Interleaved runs of contenders, medians with their spread, and the rows of the table of results. */
import { Effect, Schema } from "effect"

/**
 * The size of a run. The short form measures each row once and small. It only shows that the benchmarks run.
 */
export type Form = "full" | "short"

/** A row of the table: a claim of the documentation, its limit, and what was measured. */
export interface Row {
  readonly claim: string
  /** Path from the root, with the heading under which the page makes the claim. */
  readonly page: string
  readonly limit: string
  readonly median: string
  /** The quartiles and the number of samples. */
  readonly spread: string
  /** What was measured beside it in the same run, to compare with. */
  readonly beside: string
  readonly held: boolean
}

/** The benchmark can't run as requested. */
export class BenchmarkFailed extends Schema.TaggedError<BenchmarkFailed>()("BenchmarkFailed", { message: Schema.String }) {}

const quantile = (share: number) => (figures: ReadonlyArray<number>): number => {
  const sorted = figures.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * share
  const low = sorted[Math.floor(at)] ?? Number.NaN
  return low + (at - Math.floor(at)) * ((sorted[Math.ceil(at)] ?? Number.NaN) - low)
}

/** The median, which one slow run doesn't change. NaN without a figure. */
export const median = quantile(0.5)

/** Formats a figure with three digits: those of one machine are not more exact. A share near 100% has two decimals. */
export const format = (figure: number, unit: string): string => {
  const magnitude = Math.abs(figure)
  const decimals = unit === "%" && magnitude > 99 ? 2 : magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : 2
  const text = Number.isFinite(figure) ? Number(figure.toFixed(decimals)).toLocaleString("en") : "-"
  return /^\w{2}|^[sm]$/.test(unit) ? `${text} ${unit}` : `${text}${unit}`
}

const quartiles = (figures: ReadonlyArray<number>, unit: string): string =>
  figures.length === 1
    ? "1 run"
    : `${format(quantile(0.25)(figures), unit)} to ${format(quantile(0.75)(figures), unit)}, ${figures.length} runs`

/** Formats the median and the quartiles of samples, for the column beside the figure. */
export const summary = (name: string, samples: ReadonlyArray<number>, unit: string): string =>
  `${name} ${format(median(samples), unit)}${samples.length === 1 ? "" : ` (${quartiles(samples, unit)})`}`

/** Makes a row. The median of the samples decides whether the limit is held. */
export const row = (
  { beside = "", claim, limit, page, samples, unit }: {
    readonly claim: string
    readonly page: string
    readonly limit: { readonly atMost: number } | { readonly atLeast: number }
    readonly samples: ReadonlyArray<number>
    /** `x` for a ratio, else the unit of the samples. Empty for a count. */
    readonly unit: string
    readonly beside?: string
  }
): Row => ({
  claim,
  page,
  limit: "atMost" in limit ? `at most ${format(limit.atMost, unit)}` : `at least ${format(limit.atLeast, unit)}`,
  median: format(median(samples), unit),
  spread: quartiles(samples, unit),
  beside,
  held: "atMost" in limit ? median(samples) <= limit.atMost : median(samples) >= limit.atLeast
})

/** The ratios of samples that were measured in the same rounds. */
export const ratios = (samples: ReadonlyArray<number>, of: ReadonlyArray<number>): ReadonlyArray<number> =>
  samples.map((sample, round) => sample / (of[round] ?? Number.NaN))

/**
 * Measures every contender once in each round and returns the samples of each by round. Each round begins with another contender, so that
 * other load on the machine affects all of them equally.
 */
export const interleave = <const Contenders extends Readonly<Record<string, Effect.Effect<unknown, unknown, unknown>>>>(
  contenders: Contenders,
  rounds: number
): Effect.Effect<
  { readonly [Name in keyof Contenders]: ReadonlyArray<Effect.Success<Contenders[Name]>> },
  Effect.Error<Contenders[keyof Contenders]>,
  Effect.Services<Contenders[keyof Contenders]>
> => {
  const entries = Object.entries(contenders)
  const samples = Object.fromEntries(entries.map(([name]): [string, Array<unknown>] => [name, []]))
  const all = Effect.forEach(Array.from({ length: rounds }, (_, index) => index % entries.length),
    (first) =>
      Effect.forEach([...entries.slice(first), ...entries.slice(0, first)], ([name, measure]) =>
        Effect.map(measure, (sample) => samples[name]?.push(sample)), { discard: true }), { discard: true })
  // The cast is true: `samples` has the results of each contender under its name, and only contenders run.
  return Effect.as(all, samples) as never
}
