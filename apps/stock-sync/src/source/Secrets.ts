/** Removes the secrets of a source from what its server writes, because a server may repeat what it received. */
import * as Redaction from "@plaza/client/Redaction"
import { SourceError } from "@plaza/tabular/SourceError"
import type { Row } from "@plaza/tabular/Stock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type { SourceOptions } from "./Open.ts"
import { mapRows, type Source, type SourceFailure, SourceUnreachable } from "./Source.ts"

const replacement = "<redacted>"

export type SourceSecrets = Pick<SourceOptions, "source" | "authorization" | "headers" | "remoteSecrets">

// A shorter word may be one of any message.
const minLength = 6

// The first word of an `Authorization` header.
const scheme = /^(?:basic|bearer|digest|negotiate|api-?key)$/i

/** The secret, its words, and the password of `Basic` credentials. */
const partsOf = (secret: string): ReadonlyArray<string> => {
  const [, encoded] = /^Basic\s+(\S+)$/i.exec(secret.trim()) ?? []
  const basic = encoded === undefined ? undefined : Buffer.from(encoded, "base64").toString()
  return [
    secret,
    ...secret.split(/[\s,;="]+/),
    // Base64 may end with the sign.
    ...secret.split(/[\s,;]+/),
    ...(basic === undefined ? [] : [basic, basic.slice(basic.indexOf(":") + 1)])
  ]
}

const decoded = Option.liftThrowable(decodeURIComponent)

const secretName = /pass|pwd|secret|token|key|sig|auth|^code$/i

// A word of a person has no digits among its letters, or is short.
const isRandom = (value: string): boolean => value.length >= 16 && /\d/.test(value) && /[a-z]/i.test(value)

/** The secrets that the address of a source holds. */
const ofAddress = (address: string): ReadonlyArray<string> => {
  if (!URL.canParse(address)) return []
  const { password, searchParams } = new URL(address)
  return [
    password,
    ...Option.toArray(decoded(password)),
    ...Array.from(searchParams).flatMap(([name, value]) => secretName.test(name) || isRandom(value) ? [value] : [])
  ]
}

/** Removes the secrets from a text. */
export type Redact = (text: string) => string

/** What the server of a source is sent in secret: the longest part first, because one may contain another. */
const sentTo = ({ authorization, headers, remoteSecrets, source }: SourceSecrets): ReadonlyArray<string> => {
  const secrets = [authorization, remoteSecrets?.sftp.password, remoteSecrets?.credentials?.sessionToken].flatMap((secret) =>
    secret === undefined ? [] : [Redacted.value(secret)]
  )
  const texts = [...ofAddress(source), ...secrets, ...(headers === undefined ? [] : Object.values(Redacted.value(headers)))]
  return [...new Set(texts.flatMap(partsOf))].filter((part) => part.length >= minLength && !scheme.test(part)).toSorted((a, b) =>
    b.length - a.length
  )
}

/**
 * Replaces the secrets of a source by `<redacted>`, in the forms that Redaction.ts recognises, and the beginning of one where a text was
 * shortened.
 */
export const make = (secrets: SourceSecrets): Redact => {
  const parts = sentTo(secrets)
  const redactions = parts.map((part) => Redaction.make(part))
  return (text) => {
    let rest = redactions.reduce((rest, redaction) => redaction.text(rest), text)
    for (const part of parts) {
      rest = rest.replaceAll(part, replacement)
      if (!rest.includes("…")) continue
      for (let length = part.length - 1; length >= minLength; length--)
        rest = rest.replaceAll(`${part.slice(0, length)}…`, `${replacement}…`)
    }
    return rest
  }
}

/**
 * The source without secrets in its failures and its rejected rows. A valid row keeps its id, because that is what the source is read
 * for.
 */
export const hidden = (source: Source["Service"], secrets: SourceSecrets): Source["Service"] => {
  if (sentTo(secrets).length === 0) return source
  const redact = make(secrets)
  // Another form than the plain one takes the whole text with it.
  const reasonOf = (text: string) => {
    const rest = redact(text)
    return rest === replacement ? "its server repeats a secret of the source, so what it wrote is not shown" : rest
  }
  const failureOf = (failure: SourceFailure): SourceFailure => {
    const name = `${failure.source}: `
    const text = failure.message
    const message = text.startsWith(name) ? `${name}${reasonOf(text.slice(name.length))}` : reasonOf(text)
    return failure._tag === "SourceError"
      ? new SourceError({ source: failure.source, line: failure.line, message })
      : new SourceUnreachable({
        source: failure.source,
        message,
        retryAt: failure.retryAt,
        isSettling: failure.isSettling,
        isUnfinished: failure.isUnfinished
      })
  }
  const rowOf = (row: Row): Row =>
    row._tag === "Valid"
      ? row
      : { ...row, productId: row.productId === undefined ? undefined : redact(row.productId), reason: reasonOf(row.reason) }
  const rows = mapRows(source, (rows) => rows.pipe(Stream.map(rowOf), Stream.mapError(failureOf)))
  return { ...rows, open: (accepted) => Effect.mapError(rows.open(accepted), failureOf) }
}
