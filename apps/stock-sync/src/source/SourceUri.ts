/** Finds the kind of source that a text names, and prints addresses without secrets. */

export type Kind = "stdin" | "file" | "http" | "postgres" | "mysql" | "sqlite"

const schemes: ReadonlyArray<readonly [RegExp, Kind]> = [
  [/^https?:\/\//i, "http"],
  [/^postgres(ql)?:\/\//i, "postgres"],
  [/^mysql:\/\//i, "mysql"],
  [/^sqlite:/i, "sqlite"]
]

export const kindOf = (source: string): Kind => source === "-" ? "stdin" : schemes.find(([scheme]) => scheme.test(source))?.[1] ?? "file"

/** An address for messages: without user, password and parameters, which may hold signatures. */
export const shown = (source: string): string => {
  if (kindOf(source) === "sqlite") return source
  const url = URL.canParse(source) ? new URL(source) : undefined
  return url === undefined ? `the ${source.split(":", 1)[0] ?? ""} address` : `${url.protocol}//${url.host}${url.pathname}`
}
