/** A line chart over time as SVG, rendered on the server with the colours of the stylesheet. */
import { type Html, html } from "./Html.ts"

export interface Chart {
  /** Unique on the page. */
  readonly id: string
  readonly title: string
  /** The text alternative for screen readers. */
  readonly description: string
  readonly points: ReadonlyArray<{ readonly at: number; readonly value: number }>
  /** Milliseconds since the epoch: the left and the right edge. */
  readonly from: number
  readonly to: number
  /** The least end of the vertical axis. */
  readonly least: number
}

const width = 420
const height = 150
const left = 40
const right = 8
const top = 8
const bottom = 22

/** The end of an axis for a value: one, two or five times a power of ten. */
export const axisEnd = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)))
  return [1, 2, 5, 10].map((step) => step * power).find((end) => end >= value) ?? 10 * power
}

const numberText = (value: number): string => {
  if (value >= 1_000_000) return `${value / 1_000_000} M`
  return value >= 1_000 ? `${value / 1_000} k` : String(value)
}

/** Relative to the right edge, which is now. */
const ago = (millis: number): string => millis === 0 ? "now" : `${Math.round(millis / 60_000)} min`

export const svg = ({ description, from, id, least, points, title, to }: Chart): Html => {
  const end = axisEnd(Math.max(least, ...points.map(({ value }) => value)))
  const x = (at: number) => left + (width - left - right) * (at - from) / (to - from)
  const y = (value: number) => height - bottom - (height - top - bottom) * value / end
  const place = (number: number) => String(Math.round(number * 10) / 10)
  const path = points.map(({ at, value }) => `${place(x(at))},${place(y(value))}`).join(" ")
  const quarter = (to - from) / 4
  const last = points.at(-1)
  return html`<svg viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="${id}-title ${id}-desc">
<title id="${id}-title">${title}</title><desc id="${id}-desc">${description}</desc>
<g class="axis">${
    [0, end / 2, end].map((value) =>
      html`<line x1="${left}" x2="${width - right}" y1="${place(y(value))}" y2="${place(y(value))}"/><text x="${left - 6}" y="${
        place(y(value) + 4)
      }" text-anchor="end">${numberText(value)}</text>`
    )
  }
${
    [0, 1, 2, 3, 4].map((step) =>
      html`<text x="${place(x(from + step * quarter))}" y="${height - 6}" text-anchor="${
        step === 0 ? "start" : step === 4 ? "end" : "middle"
      }">${ago(to - from - step * quarter)}</text>`
    )
  }</g>
<polyline class="line" points="${path}"/>${
    last !== undefined && html`<circle class="now" cx="${place(x(last.at))}" cy="${place(y(last.value))}" r="3"/>`
  }
</svg>`
}
