/**
 * `--header` as it is typed: `Name: value`. Knows which headers are the client's own, and nothing of where they are sent.
 */
import { UsageError } from "@plaza/terminal/Problem"
import * as Either from "effect/Either"

const refuse = (message: string) => Either.left(new UsageError({ message }))

// The key is told in one way only, and the length and form of the message follow from the message.
const own = ["authorization", "proxy-authorization", "host", "content-length", "transfer-encoding", "connection"]

const header = (written: string): Either.Either<readonly [name: string, value: string], UsageError> => {
  const colon = written.indexOf(":")
  const name = written.slice(0, Math.max(colon, 0)).trim().toLowerCase()
  // Of what is no header nothing is told again: it may be a key that somebody put there.
  if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name)) return refuse("a header is given as --header \"Name: value\"")
  if (own.includes(name)) {
    return refuse(name.endsWith("authorization") ? `--header can't set ${name}: the key comes from the profile or PLAZA_API_KEY` : `--header can't set ${name}: it follows from the request`)
  }
  const value = written.slice(colon + 1).trim()
  return /^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value) ? Either.right([name, value]) : refuse(`the value of --header ${name} can't be sent: leave out line breaks and control characters`)
}

/** Headers by their names, in small letters. A name twice is refused. */
export const parse = (written: ReadonlyArray<string>): Either.Either<Readonly<Record<string, string>>, UsageError> =>
  Either.flatMap(Either.all(written.map(header)), (headers) => {
    const names = headers.map(([name]) => name)
    const twice = names.find((name, index) => names.indexOf(name) !== index)
    return twice === undefined ? Either.right(Object.fromEntries(headers)) : refuse(`--header ${twice} is given twice: leave one of them out`)
  })
