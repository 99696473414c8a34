/**
 * Explains what is almost right about an unknown route: another method, a missing base path, a slash too many, or a misspelt
 * segment.
 *
 * @since 0.1.0
 */
import { distance } from "fastest-levenshtein"
import type { Operation } from "./Operation.js"

type Route = Pick<Operation, "method" | "path">

/** Longer paths and segments are not compared. */
const maxSegments = 8
const maxLength = 40

const segmentsOf = (path: string): ReadonlyArray<string> => path.split("/").filter((segment) => segment !== "")

const singular = (word: string): string => word.replace(/ies$/, "y").replace(/s$/, "")

/** How different a segment is from a known one: 0 if it is the same, infinite if it is not similar. */
const difference = (written: string, known: string): number => {
  if (written === known || known.startsWith(":")) {
    return 0
  }
  const word = written.toLowerCase()
  if (word.length > maxLength) {
    return Number.POSITIVE_INFINITY
  }
  const away = distance(word, known)
  return singular(word) === singular(known) ? 1 : away <= 2 && away * 2 <= known.length ? 1 + away : Number.POSITIVE_INFINITY
}

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, number) => total + number, 0)

/** A route that the segments may mean, and how different it is. */
interface Candidate {
  readonly route: Route
  readonly segments: ReadonlyArray<string>
  /** Leading segments that the route doesn't have. */
  readonly before: ReadonlyArray<string>
  readonly away: number
}

const candidatesOf = (
  routes: ReadonlyArray<Route>,
  before: ReadonlyArray<string>,
  segments: ReadonlyArray<string>
): ReadonlyArray<Candidate> =>
  routes.flatMap((route) => {
    const known = segmentsOf(route.path)
    const away = known.length === segments.length
      ? sum(known.map((segment, index) => difference(segments[index] ?? "", segment)))
      : Number.POSITIVE_INFINITY
    return Number.isFinite(away) ? [{ route, segments, before, away: away + before.length }] : []
  })

/** Removes the base path from the front, as often as it is there. */
const withoutBase = (
  segments: ReadonlyArray<string>,
  base: ReadonlyArray<string>
): { readonly rest: ReadonlyArray<string>; readonly times: number } => {
  let rest = segments
  let times = 0
  while (base.length > 0 && base.every((segment, index) => segment === rest[index])) {
    rest = rest.slice(base.length)
    times++
  }
  return { rest, times }
}

const listed = (words: ReadonlyArray<string>): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1) ?? ""}`

/**
 * Makes a function that returns the question to append to the refusal of an unknown route, such as
 * `: did you mean PATCH /store/products/{id}/stock (PATCH instead of POST)?`; empty if no route is similar. It takes whole paths.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (routes: ReadonlyArray<Route>, basePath: string): (method: string, path: string) => string => {
  const base = segmentsOf(basePath)
  return (method, path) => {
    const { rest, times } = withoutBase(segmentsOf(path), base)
    const isOutside = base.length > 0 && times === 0
    if (rest.length > maxSegments) {
      return ""
    }
    // Another prefix than the base path has at most as many segments.
    const found = (isOutside ? [0, ...base.map((_, index) => index + 1)] : [0])
      .flatMap((dropped) => candidatesOf(routes, rest.slice(0, dropped), rest.slice(dropped)))
    const least = Math.min(...found.map(({ away }) => away))
    const best = found.filter(({ away }) => away === least)
    const [first] = best
    if (first === undefined) {
      return ""
    }
    const candidate = best.find(({ route }) => route.method === method) ?? first
    const known = segmentsOf(candidate.route.path)
    const methods = candidate.route.method === method
      ? [method]
      : best.filter(({ route }) => route.path === candidate.route.path).map(({ route }) => route.method)
    const shownPath = `${isOutside ? basePath : ""}${candidate.route.path.replace(/:(\w+)/g, "{$1}")}`
    const hints = [
      ...(methods.includes(method) ? [] : [`${listed(methods)} instead of ${method}`]),
      ...(isOutside
        ? [candidate.before.length === 0 ? `with ${basePath} in front` : `${basePath} instead of /${candidate.before.join("/")}`]
        : []),
      ...(times > 1 ? [`with ${basePath} only once`] : []),
      ...(/[^/]\/+$/.test(path) ? ["without a slash at the end"] : []),
      ...(path.replace(/\/+$/, "").includes("//") ? ["without empty segments"] : []),
      ...known.flatMap((segment, index) => {
        const written = candidate.segments[index] ?? ""
        return segment.startsWith(":") || segment === written ? [] : [`"${segment}" instead of "${written}"`]
      })
    ]
    return hints.length === 0 ? "" : `: did you mean ${listed(methods)} ${shownPath} (${hints.join(", ")})?`
  }
}
