/**
 * The headers and bodies of the newest requests, for the console. A request only stores references and copies of short bodies;
 * keys are masked and bodies are decoded when a message is read.
 */
import type { HttpServerResponse } from "effect/http/HttpServerResponse"
import * as Schema from "effect/Schema"
import * as Latitude from "../Latitude.ts"
import { nonNegativeInt } from "../Validation.ts"
import * as Envelope from "./Envelope.ts"
import type { KeyMask } from "./KeyMask.ts"

/** Maximum bytes of a body that is shown. Longer bodies are cut. */
export const maxBodyBytes = 32 * 1024

/** Maximum bytes of all kept messages together. */
export const maxBytes = 16 * 1024 * 1024

/** Kept beyond the cut, so that a key that crosses it is masked. The longest form of a character, `\u006b`, has 6 bytes. */
const beyondCut = 1_024

const Headers = Schema.Record(Schema.String, Schema.String)

/**
 * - `empty`: no body.
 * - `text`: `text` has the body, or its beginning if `truncated`.
 * - `binary`: only type and size are known.
 * - `unread`: the sandbox responded without reading the body, for example to a request without a valid key.
 */
export const RecordedBody = Schema.Struct({
  form: Schema.Literals(["empty", "text", "binary", "unread"]),
  contentType: Schema.NullOr(Schema.String),
  /** In bytes; null if it is unknown. */
  size: Schema.NullOr(nonNegativeInt),
  /** Keys are masked; null unless `form` is `text`. */
  text: Schema.NullOr(Schema.String),
  truncated: Schema.Boolean
}).annotate({ identifier: "RecordedBody" })
export interface RecordedBody extends Schema.Struct.Type<typeof RecordedBody.fields> {}

export const RequestMessages = Schema.Struct({
  request: Schema.Struct({ headers: Headers, body: RecordedBody }),
  /** The delivered response; null if the caller received none. */
  response: Schema.NullOr(Schema.Struct({ status: Schema.Int, headers: Headers, body: RecordedBody })),
  /** What the faults that hit the request did, with drawn values such as the milliseconds of a delay. */
  appliedFaults: Schema.Array(Schema.Record(Schema.String, Schema.Unknown)),
  /** The fields of the latitude that differed from the default, by name. */
  latitude: Schema.Record(Schema.String, Schema.Unknown)
}).annotate({ identifier: "RequestMessages" })
export interface RequestMessages extends Schema.Struct.Type<typeof RequestMessages.fields> {}

export interface Upload {
  readonly contentType: string
  readonly size: number
}

/** A request and its response as they were. Contains the caller's key. */
export interface Original {
  readonly method: string
  /** Path and query, undecoded. */
  readonly url: string
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Whether the headers announce a body. */
  readonly hasBody: boolean
  /** The beginning of the body; undefined if it was not read into memory. */
  readonly body: Uint8Array | undefined
  /** The size of `body` before it was cut. */
  readonly bodySize: number
  readonly upload: Upload | undefined
  readonly response: HttpServerResponse | undefined
  /** The body of a response that is sent as a stream. */
  readonly streamed: Uint8Array | undefined
  readonly faults: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly latitude: Latitude.Latitude
}

/** Copies a body, which belongs to the caller, up to the size that is kept. */
export const copy = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes.subarray(0, maxBodyBytes + beyondCut))

/** Bytes of an original without its texts and bodies, at most. */
const overhead = 1_000

const sizeOfHeaders = (headers: Readonly<Record<string, string | undefined>>): number => {
  let size = 0
  for (const name in headers) {
    size += 2 * (name.length + (headers[name]?.length ?? 0)) + 32
  }
  return size
}

/** Upper bound of the bytes of an original. */
const sizeOf = ({ body, headers, response, streamed, url }: Original): number =>
  overhead + 2 * url.length + sizeOfHeaders(headers) + (body?.length ?? 0) + (streamed?.length ?? 0) +
  (response === undefined ? 0 : sizeOfHeaders(response.headers) + Envelope.bytesOf(response).length)

/** The originals of the newest requests by id, at most {@link maxBytes}. */
export interface Store {
  readonly add: (id: string, original: Original) => void
  readonly find: (id: string) => Original | undefined
  readonly clear: () => void
}

export const makeStore = (): Store => {
  const kept = new Map<string, Original>()
  // Beside the map: to find its first entry costs time for each one that was deleted before it.
  let order: Array<{ readonly id: string; readonly size: number }> = []
  let first = 0
  let bytes = 0
  const forgetOldest = () => {
    for (let oldest = order[first]; bytes > maxBytes && oldest !== undefined && first < order.length - 1; oldest = order[first]) {
      kept.delete(oldest.id)
      bytes -= oldest.size
      first++
    }
    // In bulk, because removing one item from the front of an array moves all others.
    if (first > 1_000 && 2 * first > order.length) {
      order = order.slice(first)
      first = 0
    }
  }
  return {
    add: (id, original) => {
      const size = sizeOf(original)
      kept.set(id, original)
      order.push({ id, size })
      bytes += size
      forgetOldest()
    },
    find: (id) => kept.get(id),
    clear: () => {
      kept.clear()
      order = []
      first = 0
      bytes = 0
    }
  }
}

const hidden = "***"

/** Headers that carry a credential, whatever its form. */
const secretHeaders = new Set(["authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key"])

/** Undoes the escapes by which JSON can write a character of a key. */
const unescape = (text: string): string =>
  text.replaceAll(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))).replaceAll("\\/", "/")

const maskEscaped = (text: string, mask: KeyMask): string => {
  const plain = unescape(text)
  const masked = mask.text(plain)
  return masked === plain ? mask.text(text) : masked
}

const headerValue = (name: string, value: string, mask: KeyMask): string => {
  const masked = maskEscaped(value, mask)
  if (!secretHeaders.has(name)) {
    return masked
  }
  const [, scheme, credential] = /^(Bearer|Basic) +(.*)$/is.exec(masked) ?? []
  return scheme === undefined ? hidden : `${scheme} ${credential === "key_***" ? credential : hidden}`
}

const headersOf = (headers: Readonly<Record<string, string | undefined>>, mask: KeyMask): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[mask.text(name), headerValue(name.toLowerCase(), value, mask)]]
    )
  )

const isBinaryType = (contentType: string): boolean =>
  /^(?:image|audio|video|font)\/|^application\/(?:octet-stream|pdf|zip|gzip)/i.test(contentType) && !/^image\/svg/i.test(contentType)

/** The text of the beginning of a body; undefined if it is binary. */
const decode = (bytes: Uint8Array, isCut: boolean): string | undefined => {
  try {
    // A character at the cut may be incomplete.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: isCut })
    return text.includes("\0") ? undefined : text
  } catch {
    return undefined
  }
}

const bodyOf = (bytes: Uint8Array, size: number, contentType: string | undefined, mask: KeyMask): RecordedBody => {
  const type = contentType === undefined ? null : mask.text(contentType)
  if (size === 0) {
    return { form: "empty", contentType: type, size, text: null, truncated: false }
  }
  const kept = bytes.subarray(0, maxBodyBytes + beyondCut)
  const text = isBinaryType(contentType ?? "") ? undefined : decode(kept, kept.length < size)
  if (text === undefined) {
    return { form: "binary", contentType: type, size, text: null, truncated: false }
  }
  const truncated = size > maxBodyBytes
  const masked = maskEscaped(text, mask)
  // Masked keys are shorter than keys, so the end of what is kept, which may be a part of a key, can be before the cut.
  const shown = kept.length < size ? masked.slice(0, -beyondCut) : masked
  return { form: "text", contentType: type, size, text: truncated ? shown.slice(0, maxBodyBytes) : shown, truncated }
}

const requestBodyOf = ({ body, bodySize, hasBody, headers, upload }: Original, mask: KeyMask): RecordedBody => {
  if (body !== undefined) {
    return bodyOf(body, bodySize, headers["content-type"], mask)
  }
  const contentType = headers["content-type"]
  const length = Number(headers["content-length"] ?? Number.NaN)
  return {
    form: upload !== undefined ? "binary" : hasBody ? "unread" : "empty",
    contentType: upload !== undefined ? mask.text(upload.contentType) : contentType === undefined ? null : mask.text(contentType),
    size: upload !== undefined ? upload.size : Number.isSafeInteger(length) ? length : hasBody ? null : 0,
    text: null,
    truncated: false
  }
}

const changed = (latitude: Latitude.Latitude): Readonly<Record<string, unknown>> => {
  const usual = new Map<string, unknown>(Object.entries(Latitude.defaults))
  return Object.fromEntries(
    Object.entries(latitude).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(usual.get(name)))
  )
}

/** Reads an original, with all keys masked. */
export const read = (original: Original, mask: KeyMask): RequestMessages => {
  const { faults, headers, latitude, response, streamed } = original
  const bytes = response === undefined ? undefined : streamed ?? Envelope.bytesOf(response)
  return {
    request: { headers: headersOf(headers, mask), body: requestBodyOf(original, mask) },
    response: response === undefined || bytes === undefined ? null : {
      status: response.status,
      headers: headersOf(response.headers, mask),
      body: bodyOf(bytes, bytes.length, response.headers["content-type"], mask)
    },
    appliedFaults: faults,
    latitude: changed(latitude)
  }
}
