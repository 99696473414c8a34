/** Parses `--header "Name: value"`, and rejects the headers that the client sets itself. */
import { UsageError } from "@plaza/cli-kit/CliError"
import * as Result from "effect/Result"

const invalid = (message: string) => Result.fail(new UsageError({ message }))

// The key has its own settings, and the HTTP client derives length and framing.
const reserved = [
  "authorization",
  "proxy-authorization",
  "host",
  "content-length",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "proxy-connection",
  "upgrade",
  "expect",
  "te",
  "trailer"
]

const header = (written: string): Result.Result<readonly [name: string, value: string], UsageError> => {
  const colon = written.indexOf(":")
  const name = written.slice(0, Math.max(colon, 0)).trim().toLowerCase()
  // The message doesn't repeat an invalid header: it may be a key.
  if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name)) return invalid("write a header as --header \"Name: value\"")
  if (reserved.includes(name)) {
    return invalid(
      name.endsWith("authorization")
        ? `--header can't set ${name}: the key comes from the profile or PLAZA_API_KEY`
        : `--header can't set ${name}: the HTTP client sets it`
    )
  }
  const value = written.slice(colon + 1).trim()
  return /^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value)
    ? Result.succeed([name, value])
    : invalid(`the value of --header ${name} is invalid: remove line breaks and control characters`)
}

/** Parses headers, with lower-case names. Fails if a name is given twice. */
export const parse = (written: ReadonlyArray<string>): Result.Result<Readonly<Record<string, string>>, UsageError> =>
  Result.flatMap(Result.all(written.map(header)), (headers) => {
    const names = headers.map(([name]) => name)
    const duplicate = names.find((name, index) => names.indexOf(name) !== index)
    return duplicate === undefined
      ? Result.succeed(Object.fromEntries(headers))
      : invalid(`--header ${duplicate} is given twice: remove one of them`)
  })
