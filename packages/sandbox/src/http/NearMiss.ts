/**
 * Explains what is almost right about an unknown route: another method, a missing base path, a slash too many, an id with a slash
 * that is not encoded, or a misspelt or missing segment.
 */
import { distance } from "fastest-levenshtein"

/** `path` has a colon before each parameter. */
interface Route {
  readonly method: string
  readonly path: string
}

/** Longer paths and segments are not compared. */
const maxSegments = 8
const maxLength = 40

/**
 * How different another method is, a segment that is missing, and an id in several segments: `GET /posts` rather means `GET /me/posts`
 * than `POST /posts`.
 */
const otherMethod = 2
const missingSegment = 1
const openId = 2

const segmentsOf = (path: string): ReadonlyArray<string> => path.split("/").filter((segment) => segment !== "")

const singular = (word: string): string => word.replace(/ies$/, "y").replace(/s$/, "")

/** The distance of a segment from a known one: 0 if equal, infinite if not similar. */
const difference = (written: string, known: string): number => {
  if (written === known || known.startsWith(":")) {
    return 0
  }
  const word = written.toLowerCase()
  if (known.split("-").includes(word)) {
    return 1
  }
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
  /** What else is wrong, apart from single segments. */
  readonly hint: string | undefined
  readonly away: number
}

type Completed = Pick<Candidate, "segments" | "hint" | "away">

/** Once for each place where one of the route's own words may be missing. The last word never is. */
const withMissing = (known: ReadonlyArray<string>, segments: ReadonlyArray<string>): ReadonlyArray<Completed> =>
  known.slice(0, -1).flatMap((missing, index) =>
    missing.startsWith(":") || !known.some((word, at) => !word.startsWith(":") && word === segments[at < index ? at : at - 1])
      ? []
      : [{
        segments: [...segments.slice(0, index), missing, ...segments.slice(index)],
        hint: `"${missing}" is missing`,
        away: missingSegment
      }]
  )

/** Once for each parameter that the segments too many may belong to. A word has to follow it: otherwise any path would be an id. */
const withOpenId = (known: ReadonlyArray<string>, segments: ReadonlyArray<string>): ReadonlyArray<Completed> =>
  known.flatMap((word, index) => {
    const end = index + 1 + segments.length - known.length
    const parts = segments.slice(index, end)
    return !word.startsWith(":") || index === known.length - 1
      ? []
      : [{
        segments: [...segments.slice(0, index), parts.join("%2F"), ...segments.slice(end)],
        hint: `"${parts.join("%2F")}" instead of "${parts.join("/")}": a slash in an id is %2F`,
        away: openId
      }]
  })

/** The segments as those of a route that has as many, or fewer, or one more. */
const completed = (known: ReadonlyArray<string>, segments: ReadonlyArray<string>): ReadonlyArray<Completed> =>
  known.length === segments.length
    ? [{ segments, hint: undefined, away: 0 }]
    : known.length === segments.length + 1
    ? withMissing(known, segments)
    : known.length < segments.length
    ? withOpenId(known, segments)
    : []

const candidatesOf = (
  routes: ReadonlyArray<Route>,
  method: string,
  before: ReadonlyArray<string>,
  written: ReadonlyArray<string>
): ReadonlyArray<Candidate> =>
  routes.flatMap((route) => {
    const known = segmentsOf(route.path)
    const cost = before.length + (route.method === method ? 0 : otherMethod)
    return completed(known, written).flatMap(({ away, hint, segments }) => {
      const total = cost + away + sum(known.map((segment, index) => difference(segments[index] ?? "", segment)))
      return Number.isFinite(total) ? [{ route, segments, before, hint, away: total }] : []
    })
  })

/** Removes every leading base path. */
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
      .flatMap((dropped) => candidatesOf(routes, method, rest.slice(0, dropped), rest.slice(dropped)))
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
      ...(candidate.hint === undefined ? [] : [candidate.hint]),
      ...known.flatMap((segment, index) => {
        const written = candidate.segments[index] ?? ""
        return segment.startsWith(":") || segment === written ? [] : [`"${segment}" instead of "${written}"`]
      })
    ]
    return hints.length === 0 ? "" : `: did you mean ${listed(methods)} ${shownPath} (${hints.join(", ")})?`
  }
}
