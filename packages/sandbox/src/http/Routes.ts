/**
 * Which operation a request means, by its method and path alone. Knows nothing of what operations do.
 *
 * @since 0.1.0
 */
import type { Operation, Params } from "./Dispatch.js"

/** @since 0.1.0 @category models */
export type Match =
  | { readonly _tag: "Operation"; readonly operation: Operation; readonly params: Params }
  | { readonly _tag: "NotFound" }
  | { readonly _tag: "Malformed" }

const isParameter = (segment: string) => segment.startsWith(":")

const decodeSegment = (segment: string): string | undefined => {
  if (!segment.includes("%")) {
    return segment
  }
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

/**
 * Finds the operation that a method and a path mean. Segments are decoded once, after they were parted, so a slash
 * inside an id stays inside; an empty segment is no id. A method that a path doesn't have is an unknown route.
 *
 * @since 0.1.0
 * @category matching
 */
export const matcher = (operations: ReadonlyArray<Operation>): (method: string, path: string) => Match => {
  const parameters = ({ segments }: Operation) => segments.filter(isParameter).length
  const table = new Map<string, Array<Operation>>()
  // A literal segment goes before a parameter.
  for (const operation of [...operations].sort((a, b) => parameters(a) - parameters(b))) {
    const key = `${operation.method} ${operation.segments.length}`
    table.set(key, [...(table.get(key) ?? []), operation])
  }
  return (method, path) => {
    const segments: Array<string> = []
    for (const segment of path.split("/").slice(1)) {
      const decoded = decodeSegment(segment)
      if (decoded === undefined) {
        return { _tag: "Malformed" }
      }
      segments.push(decoded)
    }
    for (const operation of table.get(`${method} ${segments.length}`) ?? []) {
      const params: Record<string, string> = {}
      const fits = operation.segments.every((expected, index) => {
        const actual = segments[index]
        if (!isParameter(expected)) {
          return actual === expected
        }
        if (actual === undefined || actual === "") {
          return false
        }
        params[expected.slice(1)] = actual
        return true
      })
      if (fits) {
        return { _tag: "Operation", operation, params }
      }
    }
    return { _tag: "NotFound" }
  }
}
