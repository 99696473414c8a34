/** Addresses of files on servers: `sftp://user@host[:port]/path` and `s3://bucket/key`. */
import * as Order from "effect/Order"
import * as Result from "effect/Result"

/** A path whose last name may be a pattern. */
export interface RemotePath {
  /** As in the address; the file itself, unless it is a pattern. */
  readonly path: string
  /** With its final slash, or empty. */
  readonly folder: string
  /** What a name begins with before the first wildcard. */
  readonly prefix: string
  /** Undefined if the path names one file. */
  readonly pattern: RegExp | undefined
}

export interface SftpAddress extends RemotePath {
  readonly user: string
  readonly host: string
  readonly port: number
}

export interface S3Address extends RemotePath {
  readonly bucket: string
}

/** A file of a listing. */
export interface Listed {
  readonly name: string
  /** In milliseconds since the epoch. */
  readonly mtime: number
}

const newest = Order.combine(
  Order.mapInput(Order.Number, ({ mtime }: Listed) => mtime),
  Order.mapInput(Order.String, ({ name }: Listed) => name)
)

/** The newest file that matches: by time, then by name, of which the last one counts. */
export const newestOf = <A extends Listed>({ pattern }: RemotePath, files: ReadonlyArray<A>): A | undefined =>
  files.reduce<A | undefined>(
    (last, file) => pattern?.test(file.name) === true && (last === undefined || newest(file, last) > 0) ? file : last,
    undefined
  )

const wildcard = /[*?]/

const patternOf = (name: string, decode: (text: string) => string): RegExp =>
  new RegExp(
    `^${
      name.split(/([*?])/).map((part) =>
        part === "*" ? "[^/]*" : part === "?" ? "[^/]" : decode(part).replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")
      ).join("")
    }$`,
    "su"
  )

const parsePath = (written: string, decode: (text: string) => string): Result.Result<RemotePath, string> => {
  const end = written.lastIndexOf("/") + 1
  const [folder, name] = [written.slice(0, end), written.slice(end)]
  if (name === "") return Result.fail("it names a folder: add the name of the file, or a pattern such as stock-*.csv")
  if (wildcard.test(folder)) return Result.fail("a pattern can't be in the name of a folder: only the last name may have * or ?")
  return Result.succeed({
    path: decode(written),
    folder: decode(folder),
    prefix: decode(name.split(wildcard, 1)[0] ?? ""),
    pattern: wildcard.test(name) ? patternOf(name, decode) : undefined
  })
}

// A user may contain an at sign, as the accounts of some clouds do.
const sftp = /^sftp:\/\/(?:([^/]*)@)?(\[[0-9a-f:.]+\]|[^/:@[\]\s]+)(?::(\d{1,5}))?(\/.*)?$/is

const decodePercent = (text: string): Result.Result<string, string> =>
  Result.try({
    try: () => decodeURIComponent(text),
    catch: () => "it has a % that is not followed by two digits of a character: write %25"
  })

/** The parts of an `sftp` address, or why it is none. The reason contains no part of it. */
export const parseSftp = (text: string, password: string): Result.Result<SftpAddress, string> =>
  Result.gen(function*() {
    const [, user = "", host = "", port = "22", path = ""] = sftp.exec(text) ?? []
    if (host === "" || Number(port) > 65_535 || port === "0")
      return yield* Result.fail(
        "this is not an address such as sftp://user@host/path"
      )
    if (user.includes(":")) return yield* Result.fail(`put the password into ${password}, not into the address`)
    if (user === "") return yield* Result.fail("the address lacks the user: write sftp://user@host/path")
    yield* decodePercent(path)
    const decode = (part: string) => decodeURIComponent(part)
    // Servers resolve a relative path in the folder where a session begins.
    const remote = yield* parsePath(path.replace(/^\/~\//, ""), decode)
    return { ...remote, user: yield* decodePercent(user), host: host.replace(/^\[|\]$/g, ""), port: Number(port) }
  })

const s3 = /^s3:\/\/([^/]+)(?:\/(.*))?$/is

/** The parts of an `s3` address, or why it is none. Its key is taken as it is written. */
export const parseS3 = (text: string, credentials: string): Result.Result<S3Address, string> =>
  Result.gen(function*() {
    const [, bucket = "", key = ""] = s3.exec(text) ?? []
    if (bucket.includes("@")) return yield* Result.fail(`put keys into ${credentials}, not into the address`)
    if (!/^[a-z0-9][a-z0-9._-]{1,254}$/i.test(bucket)) return yield* Result.fail("this is not an address such as s3://bucket/key")
    if (key.split("/").some((name) => name === "." || name === "..")) {
      return yield* Result.fail("its key has . or .. as a name, which HTTP can't transfer")
    }
    return { ...yield* parsePath(key, (part) => part), bucket }
  })

/** The same address with another path, for messages. Without its user. */
export const shownPath = (address: SftpAddress | S3Address, path: string): string =>
  "bucket" in address
    ? `s3://${address.bucket}/${path}`
    : `sftp://${address.host.includes(":") ? `[${address.host}]` : address.host}${address.port === 22 ? "" : `:${address.port}`}${
      path.startsWith("/") ? path : `/~/${path}`
    }`
