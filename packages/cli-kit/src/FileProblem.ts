/** What is wrong with a file, in the words of the system and with what to do. */
import { type PlatformError, systemError } from "effect/PlatformError"
import * as Predicate from "effect/Predicate"
import { reasonOf } from "./ExitCode.ts"

const sentences: Readonly<Record<string, (path: string) => string>> = {
  NotFound: (path) => `${path} does not exist: check the path`,
  PermissionDenied: (path) => `permission denied for ${path}: check its owner and mode`,
  BadResource: (path) => `${path} can't be used as a file: check the path`,
  AlreadyExists: (path) => `${path} already exists: use another name`
}

const messageOf = (cause: unknown): string => Predicate.hasProperty(cause, "message") ? String(cause.message) : ""

/** An error of Node in words: `no space left on the device` of `ENOSPC: no space left on device, write`. Undefined for other errors. */
export const wordsOfNode = (cause: unknown): string | undefined =>
  /^[A-Z\d]+: ([^,]+)/.exec(messageOf(cause))?.[1]?.replace(/ on device$/, " on the device")

/** The reason in words. */
export const wordsOf = ({ reason }: PlatformError): string => wordsOfNode(reason.cause) ?? reason.description ?? reason._tag

/** The path of the file. Node names an open file by a number, which means nothing to a person. */
export const pathOf = ({ reason }: PlatformError): string =>
  Predicate.hasProperty(reason, "pathOrDescriptor") && Predicate.isString(reason.pathOrDescriptor) ? reason.pathOrDescriptor : "a file"

/** A sentence about the failure of an operation on a file. */
export const describe = (error: PlatformError, path = pathOf(error)): string =>
  sentences[reasonOf(error)]?.(path) ?? `${path}: ${wordsOf(error)}`

/** The same failure with the path of the file, which an operation on an open file doesn't know. */
export const at = (path: string) => (error: PlatformError): PlatformError =>
  error.reason._tag === "BadArgument"
    ? error
    : systemError({
      _tag: error.reason._tag,
      module: error.reason.module,
      method: error.reason.method,
      description: error.reason.description,
      pathOrDescriptor: path,
      cause: error.reason.cause
    })
