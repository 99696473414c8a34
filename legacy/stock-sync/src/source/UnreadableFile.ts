/** File system errors as failures of a source. */
import type { PlatformError } from "@effect/platform/Error"
import { SourceError } from "@plaza-legacy/tabular/SourceError"

export const isMissing = (error: PlatformError): boolean => error._tag === "SystemError" && error.reason === "NotFound"

/** The failure for a file that can't be read. `advice` says what to change. */
export const unreadable = (path: string, advice: string) => (error: PlatformError): SourceError => {
  const why = isMissing(error)
    ? "there is no such file"
    : error._tag === "SystemError" && error.reason === "PermissionDenied"
    ? "this user may not read it"
    : error._tag === "SystemError" && error.reason === "BadResource" && !/EISDIR|directory/i.test(error.message)
    ? "it is a named pipe or a device, not a file"
    : error._tag === "SystemError" && /EISDIR|directory/i.test(error.message)
    ? "it is a folder, not a file"
    : `it can't be read (${error.message})`
  return new SourceError({ source: path, line: undefined, message: `${path}: ${why}. ${advice}` })
}
