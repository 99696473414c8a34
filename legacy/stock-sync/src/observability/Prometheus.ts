/** Renders Effect's metrics in the Prometheus text format, version 0.0.4. */
import * as MetricKeyType from "effect/MetricKeyType"
import type * as MetricPair from "effect/MetricPair"
import * as MetricState from "effect/MetricState"
import * as Option from "effect/Option"

export const contentType = "text/plain; version=0.0.4; charset=utf-8"

type Labels = ReadonlyArray<readonly [name: string, value: string]>

interface Sample {
  /** The end of the name after the family's name, such as `_sum`. */
  readonly suffix: string
  readonly labels: Labels
  readonly value: number | bigint
}

interface Family {
  readonly type: "counter" | "gauge" | "histogram" | "summary"
  readonly help: string
  readonly samples: Array<Sample>
}

const nameOf = (text: string): string => text.replace(/[^A-Za-z0-9_:]/g, "_").replace(/^(?=\d)/, "_")
const labelOf = (text: string): string => nameOf(text).replaceAll(":", "_")

const inHelp = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")
const inLabel = (text: string): string => inHelp(text).replaceAll("\"", "\\\"")

const numberText = (value: number | bigint): string => {
  if (value === Infinity) return "+Inf"
  if (value === -Infinity) return "-Inf"
  return String(value)
}

/** An incremental counter is a counter in Prometheus, with `_total` at the end of its name. Others are gauges. */
const headOf = ({ metricKey: { keyType, name } }: MetricPair.MetricPair.Untyped): readonly [name: string, type: Family["type"]] => {
  const plain = nameOf(name)
  const counted = plain.endsWith("_total") ? plain : `${plain}_total`
  if (MetricKeyType.isHistogramKey(keyType)) return [plain, "histogram"]
  if (MetricKeyType.isSummaryKey(keyType)) return [plain, "summary"]
  if (MetricKeyType.isFrequencyKey(keyType)) return [counted, "counter"]
  return MetricKeyType.isCounterKey(keyType) && keyType.incremental ? [counted, "counter"] : [plain, "gauge"]
}

const samplesOf = (state: MetricState.MetricState.Untyped, labels: Labels): ReadonlyArray<Sample> => {
  const sample = (suffix: string, value: number | bigint, ...more: Labels): Sample => ({ suffix, value, labels: [...labels, ...more] })
  if (MetricState.isCounterState(state)) return [sample("", state.count)]
  if (MetricState.isGaugeState(state)) return [sample("", state.value)]
  if (MetricState.isFrequencyState(state)) {
    return Array.from(state.occurrences, ([word, count]) => sample("", count, ["key", word]))
  }
  if (MetricState.isHistogramState(state)) {
    return [
      // Effect's buckets are cumulative, as Prometheus requires.
      ...Array.from(state.buckets).flatMap(([bound, count]) =>
        bound === Infinity ? [] : [sample("_bucket", count, ["le", numberText(bound)])]
      ),
      sample("_bucket", state.count, ["le", "+Inf"]),
      sample("_sum", state.sum),
      sample("_count", state.count)
    ]
  }
  if (MetricState.isSummaryState(state)) {
    return [
      ...Array.from(state.quantiles).map(([quantile, value]) =>
        sample("", Option.getOrElse(value, () => NaN), ["quantile", numberText(quantile)])
      ),
      sample("_sum", state.sum),
      sample("_count", state.count)
    ]
  }
  return []
}

const line = (name: string, { labels, suffix, value }: Sample): string => {
  const inBraces = labels.map(([label, text]) => `${label}="${inLabel(text)}"`).join(",")
  return `${name}${suffix}${inBraces === "" ? "" : `{${inBraces}}`} ${numberText(value)}\n`
}

/**
 * Renders a snapshot. Samples of one name form one family. A metric whose name belongs to a family of another type is left out, because
 * Prometheus would refuse the whole text.
 */
export const text = (snapshot: Iterable<MetricPair.MetricPair.Untyped>): string => {
  const families = new Map<string, Family>()
  for (const pair of snapshot) {
    const { metricKey, metricState } = pair
    const [name, type] = headOf(pair)
    const family = families.get(name) ?? { type, help: Option.getOrElse(metricKey.description, () => ""), samples: [] }
    if (family.type !== type) continue
    families.set(name, family)
    family.samples.push(...samplesOf(metricState, metricKey.tags.map(({ key, value }) => [labelOf(key), value] as const)))
  }
  return Array.from(families, ([name, { help, samples, type }]) => {
    const helpLine = help === "" ? "" : `# HELP ${name} ${inHelp(help)}\n`
    return `${helpLine}# TYPE ${name} ${type}\n${samples.map((sample) => line(name, sample)).join("")}`
  }).join("")
}
