/**
 * An object of an S3 bucket as a source, at AWS or any other endpoint. Requests are those of an `http` source, with a signature of the
 * library `aws4fetch` (docs/decisions/059-files-on-servers.md).
 */
import * as NodeClient from "@plaza/client/node"
import { SourceError } from "@plaza/tabular/SourceError"
import { AwsV4Signer } from "aws4fetch"
import * as Clock from "effect/Clock"
import type { ConfigError } from "effect/Config"
import * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import type { HttpMethod } from "effect/http/HttpMethod"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Wording } from "../../Wording.ts"
import * as Requests from "../http/Requests.ts"
import type * as Rows from "../Rows.ts"
import { failIfSilent, type Source, type SourceFailure, unreachable } from "../Source.ts"
import * as SourceUri from "../SourceUri.ts"
import * as WholeFile from "../WholeFile.ts"
import * as Address from "./Address.ts"
import * as RemoteFile from "./RemoteFile.ts"
import * as S3Xml from "./S3Xml.ts"

export interface S3Credentials {
  readonly accessKeyId?: string | undefined
  readonly secretAccessKey?: Redacted.Redacted | undefined
  readonly sessionToken?: Redacted.Redacted | undefined
}

export interface S3Settings {
  /** Without both keys, for a bucket that everyone may read. */
  readonly credentials?: S3Credentials | undefined
  /** The address of a server that is not AWS. */
  readonly endpoint?: string | undefined
  readonly region: string
}

export interface S3Options extends Rows.RowOptions, WholeFile.FinishedOptions {
  readonly source: string
  readonly s3?: S3Settings | undefined
  readonly poll: Duration.Duration
  /** How long the server may be silent, before its response and within it. */
  readonly timeout: Duration.Duration
}

export const defaultRegion = "us-east-1"

// A thousand keys a page.
const mostPages = 1_000
// A page has less than a megabyte; an error is short.
const maxTextBytes = 8 * 1024 * 1024

/** As signatures need it: nothing but letters, digits and four signs stays as it is. */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
const encodeKey = (key: string): string => key.split("/").map(encode).join("/")

/** The address of a bucket, without a final slash. A name with dots fits no certificate of AWS. */
const bucketUrl = (bucket: string, { endpoint, region }: S3Settings): string => {
  if (endpoint !== undefined) return `${endpoint.replace(/\/+$/, "")}/${bucket}`
  const host = `s3.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`
  return /^[a-z0-9-]+$/.test(bucket) ? `https://${bucket}.${host}` : `https://${host}/${bucket}`
}

const isEndpoint = (text: string): boolean => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "" && url.search === "" &&
    url.hash === ""
}

/** The entity tag, which a version begins with, or what stands for it. */
const tagOf = ({ version }: WholeFile.FileInfo): string => version.split(" ", 1)[0] ?? ""

const millisOf = (date: string | undefined): number | undefined => {
  const millis = date === undefined ? NaN : Date.parse(date)
  return Number.isNaN(millis) ? undefined : millis
}

export const make = Effect.fnUntraced(function*(options: S3Options) {
  const { place } = yield* Wording
  const settings = options.s3 ?? { region: defaultRegion }
  const { region } = settings
  const { accessKeyId, secretAccessKey, sessionToken } = settings.credentials ?? {}
  const shown = SourceUri.shown(options.source)
  const refused = (reason: string, name = shown) => new SourceError({ source: name, line: undefined, message: `${name}: ${reason}` })
  const address = yield* Effect.mapError(Effect.fromResult(Address.parseS3(options.source, place("s3-secret-access-key"))),
    (why) => refused(why))
  const name = Address.shownPath(address, address.path)
  if (settings.endpoint !== undefined && !isEndpoint(settings.endpoint)) {
    return yield* refused(`the endpoint is not an address such as https://host: correct ${place("s3-endpoint")}`)
  }
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    return yield* refused(
      `an access key has two parts: set ${place(accessKeyId === undefined ? "s3-access-key-id" : "s3-secret-access-key")} too`
    )
  }
  const bucket = new URL(bucketUrl(address.bucket, settings))
  const cache = new Map<string, ArrayBuffer>()

  const sign = (method: HttpMethod, url: URL): Effect.Effect<Readonly<Record<string, string>>> =>
    accessKeyId === undefined || secretAccessKey === undefined ?
      Effect.succeed({}) :
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Effect.promise(async () => {
          const signed = await new AwsV4Signer({
            method,
            url: url.href,
            accessKeyId,
            secretAccessKey: Redacted.value(secretAccessKey),
            ...(sessionToken === undefined ? {} : { sessionToken: Redacted.value(sessionToken) }),
            service: "s3",
            region,
            cache,
            datetime: DateTime.formatIso(DateTime.makeUnsafe(now)).replace(/[:-]|\.\d+/g, "")
          }).sign()
          return Object.fromEntries(signed.headers)
        }))

  const { get } = yield* Requests.make({
    address: bucket,
    authorization: undefined,
    headers: undefined,
    timeout: options.timeout,
    name,
    // Of the address of a redirect, which is not followed.
    redact: identity,
    refused,
    sign
  })

  const urlOf = (key: string): URL => new URL(`${bucket.href.replace(/\/$/, "")}/${encodeKey(key)}`)

  const bodyOf = ({ response }: Requests.Fetched): Stream.Stream<Uint8Array, SourceFailure> =>
    response.stream.pipe(Stream.mapError(() => unreachable(name, "the response was cut short")), failIfSilent(name, options.timeout))

  const textOf = (fetched: Requests.Fetched): Effect.Effect<string, SourceFailure> =>
    bodyOf(fetched).pipe(
      Stream.limitBytes(maxTextBytes, () => Stream.fail<SourceFailure>(refused("its response is longer than any of S3"))),
      Stream.decodeText,
      Stream.mkString
    )

  /** The sentence for a response that is an error. */
  const failureOf = (status: number, headers: Requests.Fetched["response"]["headers"], body: string, where: string): SourceFailure => {
    const { code, message, region: named } = S3Xml.errorOf(body)
    const right = headers["x-amz-bucket-region"] ?? named
    const keys = `${place("s3-access-key-id")} and ${place("s3-secret-access-key")}`
    if (right !== undefined && right !== region && (status === 301 || status === 307 || status === 400)) {
      return refused(`its bucket is in the region ${right}, not ${region}: set ${place("s3-region")} to ${right}`)
    }
    switch (code ?? "") {
      case "NoSuchBucket":
        return refused(`there is no bucket ${address.bucket}: correct ${place("source")}, or ${place("s3-endpoint")}`)
      case "AccessDenied":
      case "AllAccessDisabled":
        return refused(
          accessKeyId === undefined
            ? `it is not public: set ${keys}`
            : `the access key may not read it: allow it s3:GetObject${address.pattern === undefined ? "" : " and s3:ListBucket"}`,
          where
        )
      case "InvalidAccessKeyId":
        return refused(`the server does not know the access key: correct ${place("s3-access-key-id")}`)
      case "SignatureDoesNotMatch":
        return refused(`the secret access key does not fit the access key: correct ${place("s3-secret-access-key")}`)
      case "ExpiredToken":
      case "InvalidToken":
        return refused("the session token has expired or is invalid: set a new one")
      case "RequestTimeTooSkewed":
        return refused("the clock of this machine differs too much from that of the server: set it right")
      case "InvalidObjectState":
        return refused("it is in an archive: restore it, or name another source", where)
      case "PermanentRedirect":
        return refused(`its bucket is at another endpoint: correct ${place("s3-region")} or ${place("s3-endpoint")}`)
    }
    if (status === 401 || status === 403) return refused(`the server refuses to show it (${status}): check ${keys}`, where)
    return refused(`the server responded ${status}${code === undefined ? "" : ` ${code}`}${message === undefined ? "" : `: ${message}`}`,
      where)
  }

  /** Fails with the error of a response. One to HEAD has no body, so the object is asked for to learn the reason. */
  const failed = (fetched: Requests.Fetched, key: string, isHead: boolean): Effect.Effect<never, SourceFailure, Scope.Scope> =>
    Effect.gen(function*() {
      const told = isHead ? yield* get(urlOf(key), { range: "bytes=0-0" }) : fetched
      const { headers, status } = told.response
      return yield* failureOf(status, headers, yield* textOf(told), Address.shownPath(address, key))
    })

  const infoOf = (key: string, { headers }: Requests.Fetched["response"]): Effect.Effect<WholeFile.FileInfo, SourceFailure> =>
    Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const where = Address.shownPath(address, key)
      const size = headers["content-length"]
      if (size === undefined || !/^\d+$/.test(size))
        return yield* refused("its response has no Content-Length, as every S3 server sends", where)
      const mtime = millisOf(headers["last-modified"]) ?? 0
      const date = millisOf(headers["date"])
      return {
        type: "file",
        path: key,
        name: where,
        version: [headers["etag"] ?? mtime, size, mtime, key].join(" "),
        // A tool may upload a file again and again while it is written, so another object is not taken for a complete one.
        identity: "",
        size: BigInt(size),
        mtime,
        // Both times are of the server's clock.
        writtenAt: date === undefined ? undefined : now - Math.max(0, date - mtime)
      }
    })

  // Another version fails then. A weak validator equals none.
  const ifUnchanged = (tag: string): Readonly<Record<string, string>> => tag.startsWith("\"") ? { "if-match": tag } : {}

  const read = (info: WholeFile.FileInfo, range: Readonly<Record<string, string>> = {}) =>
    Effect.gen(function*() {
      const fetched = yield* get(urlOf(info.path), { ...range, ...ifUnchanged(tagOf(info)) })
      const { status } = fetched.response
      if (status === 412 || status === 404 || status === 416) return yield* WholeFile.changedWhileRead(info.name)
      if (status !== 200 && status !== 206) return yield* failed(fetched, info.path, false)
      // A server that knows no conditions.
      const found = yield* infoOf(info.path, fetched.response)
      if (tagOf(found) !== tagOf(info)) return yield* WholeFile.changedWhileRead(info.name)
      return fetched
    })

  const files: RemoteFile.RemoteFiles = {
    stat: (key) =>
      Effect.scoped(Effect.gen(function*() {
        const fetched = yield* get(urlOf(key), {}, "HEAD")
        const { status } = fetched.response
        if (status === 404) {
          // A bucket that does not exist responds in the same way.
          const told = yield* get(urlOf(key), { range: "bytes=0-0" })
          const body = told.response.status === 404 ? yield* textOf(told) : ""
          return S3Xml.errorOf(body).code === "NoSuchBucket" ? yield* failureOf(404, told.response.headers, body, name) : Option.none()
        }
        return status === 200 ? Option.some(yield* infoOf(key, fetched.response)) : yield* failed(fetched, key, true)
      })),
    bytes: (info, position, count) =>
      Effect.scoped(Effect.flatMap(
        read(info, { range: `bytes=${position}-${position + BigInt(count) - 1n}` }),
        (fetched) =>
          Effect.map(Stream.runCollect(Stream.take(bodyOf(fetched), count)),
            (chunks) => new Uint8Array(Buffer.concat(chunks).subarray(0, count)))
      )),
    stream: (info) =>
      Stream.unwrap(Effect.map(read(info), (fetched) => {
        let received = 0n
        return bodyOf(fetched).pipe(
          Stream.map((chunk) => {
            received += BigInt(chunk.length)
            return chunk
          }),
          Stream.concat(
            Stream.suspend(() => received === info.size ? Stream.empty : Stream.fail(unreachable(name, "the response was cut short")))
          )
        )
      })),
    list: (folder, prefix) => {
      const page = (token: string | undefined, pages: number, before: ReadonlyArray<Address.Listed>): Effect.Effect<
        ReadonlyArray<Address.Listed>,
        SourceFailure
      > =>
        Effect.gen(function*() {
          const parameters = [
            ...(token === undefined ? [] : [["continuation-token", token]] as const),
            ["delimiter", "/"],
            ["encoding-type", "url"],
            ["list-type", "2"],
            ["prefix", `${folder}${prefix}`]
          ] as const
          const search = parameters.map(([name, value]) => `${name}=${encode(value)}`).join("&")
          const text = yield* Effect.scoped(Effect.gen(function*() {
            const fetched = yield* get(new URL(`?${search}`, bucket))
            return fetched.response.status === 200 ? yield* textOf(fetched) : yield* failed(fetched, "", false)
          }))
          const { files, next } = S3Xml.listingOf(text)
          const all = [
            ...before,
            ...files.map(({ key, mtime }) => ({ name: key.slice(folder.length), mtime })).filter(({ name }) => name !== "")
          ]
          if (next === undefined) return all
          if (pages === mostPages)
            return yield* refused(
              `more than ${(mostPages * 1_000).toLocaleString("en")} objects match: narrow the pattern`
            )
          return yield* page(next, pages + 1, all)
        })
      return page(undefined, 1, [])
    }
  }

  return yield* RemoteFile.make({ ...options, address, connect: Effect.succeed(files), isAtomic: true })
})

/** The source on Node's HTTP client, until the scope closes. Fails for an invalid proxy variable. */
export const makeOnNode = (
  options: S3Options
): Effect.Effect<Source["Service"], ConfigError | SourceFailure, Scope.Scope> =>
  Effect.flatMap(Layer.build(NodeClient.layerConfig), (context) => Effect.provide(make(options), context))
