/**
 * What kind of source a text names, and how an address is shown without what is secret in it. Knows nothing of what lies there.
 *
 * @since 0.1.0
 */

/** @since 0.1.0 @category models */
export type Kind = "stdin" | "file" | "http" | "postgres" | "mysql" | "sqlite"

const schemes: ReadonlyArray<readonly [RegExp, Kind]> = [
  [/^https?:\/\//i, "http"],
  [/^postgres(ql)?:\/\//i, "postgres"],
  [/^mysql:\/\//i, "mysql"],
  [/^sqlite:/i, "sqlite"]
]

/** @since 0.1.0 @category constructors */
export const kindOf = (source: string): Kind =>
  source === "-" ? "stdin" : schemes.find(([scheme]) => scheme.test(source))?.[1] ?? "file"

/**
 * Whether a source is a database, which needs a question to be asked.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isDatabase = (source: string): boolean => ["postgres", "mysql", "sqlite"].includes(kindOf(source))

/**
 * An address for messages: without user, password and question mark, behind which signatures stand.
 *
 * @since 0.1.0
 * @category printing
 */
export const shown = (source: string): string => {
  if (kindOf(source) === "sqlite") return source
  const url = URL.canParse(source) ? new URL(source) : undefined
  return url === undefined ? `the ${source.split(":", 1)[0] ?? ""} address` : `${url.protocol}//${url.host}${url.pathname}`
}
