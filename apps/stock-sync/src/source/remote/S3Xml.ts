/** Reads the two documents of S3 that a source needs: an error, and a page of a listing. */
import { lineUpTo } from "@plaza/tabular/Quoted"
import * as Option from "effect/Option"

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: "\"", apos: "'" }

const decodeEntities = (text: string): string =>
  text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]+));/gi,
    (whole, hex: string | undefined, decimal: string | undefined, name: string | undefined) => {
      if (hex === undefined && decimal === undefined) return entities[name ?? ""] ?? whole
      const point = hex === undefined ? Number(decimal) : parseInt(hex, 16)
      return point <= 0x10ffff ? String.fromCodePoint(point) : whole
    })

/** The text of the first element with a name. None of the elements that matter has children of the same name. */
const textOf = (xml: string, name: string): string | undefined => {
  const text = new RegExp(`<${name}(?:\\s[^>]*)?>([^<]*)</${name}>`).exec(xml)?.[1]
  return text === undefined ? undefined : decodeEntities(text).trim()
}

export interface S3Error {
  readonly code: string | undefined
  /** In one line. */
  readonly message: string | undefined
  readonly region: string | undefined
}

/** The error of a response. A body that is no error of S3 has neither code nor message. */
export const errorOf = (xml: string): S3Error => {
  const told = (name: string) => Option.getOrUndefined(Option.map(Option.fromUndefinedOr(textOf(xml, name)), lineUpTo(300)))
  const message = told("Message")
  return /<Error[\s>]/.test(xml)
    ? { code: told("Code"), message: message === "" ? undefined : message, region: told("Region") }
    : { code: undefined, message: undefined, region: undefined }
}

export interface Listing {
  readonly files: ReadonlyArray<{ readonly key: string; readonly mtime: number }>
  /** The token of the next page; undefined for the last one. */
  readonly next: string | undefined
}

const decodeUrl = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll("+", " "))
  } catch {
    return text
  }
}

/** A page of `ListObjectsV2` with `encoding-type=url`. */
export const listingOf = (xml: string): Listing => {
  const isEncoded = textOf(xml, "EncodingType") === "url"
  const files = Array.from(xml.matchAll(/<Contents>(.*?)<\/Contents>/gs), ([, content = ""]) => {
    const key = textOf(content, "Key") ?? ""
    const mtime = Date.parse(textOf(content, "LastModified") ?? "")
    return { key: isEncoded ? decodeUrl(key) : key, mtime: Number.isNaN(mtime) ? 0 : mtime }
  })
  const token = textOf(xml, "NextContinuationToken")
  return { files, next: textOf(xml, "IsTruncated") === "true" && token !== undefined && token !== "" ? token : undefined }
}
