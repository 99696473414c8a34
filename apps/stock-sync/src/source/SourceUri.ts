/** Finds the kind of source that a text names, and prints addresses without secrets. */

export type Kind = "stdin" | "file" | "http" | "sftp" | "s3" | "postgres" | "mysql" | "sqlite"

const schemes: ReadonlyArray<readonly [RegExp, Kind]> = [
  [/^https?:\/\//i, "http"],
  [/^sftp:\/\//i, "sftp"],
  [/^s3:\/\//i, "s3"],
  [/^postgres(ql)?:\/\//i, "postgres"],
  [/^mysql:\/\//i, "mysql"],
  [/^sqlite:/i, "sqlite"]
]

export const kindOf = (source: string): Kind => source === "-" ? "stdin" : schemes.find(([scheme]) => scheme.test(source))?.[1] ?? "file"

/** Whether an address names a file of a server, to which the rules of a local file apply. */
export const isFileOnServer = (kind: Kind): boolean => kind === "sftp" || kind === "s3"

/** An address for messages: without user, password and parameters, which may hold signatures. */
export const shown = (source: string): string => {
  const kind = kindOf(source)
  if (kind === "sqlite") return source
  // The last name may be a pattern, in which a question mark begins no parameters.
  if (isFileOnServer(kind)) return source.replace(/^([^:]*:\/\/)[^/]*@/, "$1")
  const url = URL.canParse(source) ? new URL(source) : undefined
  return url === undefined ? `the ${source.split(":", 1)[0] ?? ""} address` : `${url.protocol}//${url.host}${url.pathname}`
}

/** A source for listings: a path as it is, an address as `shown` prints it. */
export const display = (source: string): string => {
  const kind = kindOf(source)
  return kind === "file" || kind === "stdin" ? source : shown(source)
}

/**
 * Whether an address may hold a secret: a password, any parameter of an `http` address, or a parameter of a database that is named like a
 * secret.
 */
export const mayHoldSecret = (source: string): boolean => {
  const kind = kindOf(source)
  if (kind === "file" || kind === "stdin" || kind === "sqlite") return false
  if (isFileOnServer(kind)) return /^[^:]*:\/\/[^/]*:[^/]*@/.test(source)
  // The user can't see what an address that can't be parsed holds.
  if (!URL.canParse(source)) return true
  const { password, search } = new URL(source)
  return password !== "" || (kind === "http" ? search !== "" : /pass|secret|token|key/i.test(search))
}
