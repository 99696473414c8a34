/**
 * What a service stores of what was sent: texts, the order of media, ids. Applied when a write is carried out.
 *
 * @since 0.1.0
 */
import { createHash } from "node:crypto"
import { type Latitude, type TextForm } from "../Latitude.js"

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;" }

/** In the order in which they apply. */
const forms: ReadonlyArray<readonly [TextForm, (text: string) => string]> = [
  ["trimmed", (text) => text.trim()],
  ["lf", (text) => text.replace(/\r\n?/g, "\n")],
  ["collapsed", (text) => text.replace(/\s+/g, " ")],
  ["htmlEscaped", (text) => text.replace(/[&<>"']/g, (character) => entities[character] ?? character)],
  ["nfc", (text) => text.normalize("NFC")]
]

const cut = (text: string, { ellipsis, storedTextLength }: Latitude): string => {
  if (storedTextLength === null || text.length <= storedTextLength) {
    return text
  }
  const characters = Array.from(text)
  return characters.length <= storedTextLength
    ? text
    : ellipsis
    ? `${characters.slice(0, storedTextLength - 1).join("")}…`
    : characters.slice(0, storedTextLength).join("")
}

/** @since 0.1.0 @category writing */
export const text = (latitude: Latitude, sent: string): string =>
  cut(
    latitude.text.length === 0
      ? sent
      : forms.reduce((text, [form, change]) => latitude.text.includes(form) ? change(text) : text, sent),
    latitude
  )

/** @since 0.1.0 @category writing */
export const mediaIds = <Id extends string>({ mediaOrder }: Latitude, sent: ReadonlyArray<Id>): ReadonlyArray<Id> => {
  switch (mediaOrder) {
    case "asSent":
      return sent
    case "reversed":
      return [...sent].reverse()
    case "sorted":
      return [...sent].sort()
  }
}

const uuid = (name: string): string =>
  createHash("sha256").update(name).digest("hex")
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-4$3-8$4-$5")

/**
 * The id of a new thing with a sequence number, where its plain id is the last argument.
 *
 * @since 0.1.0
 * @category writing
 */
export const id = ({ idForm }: Latitude, kind: "post" | "media" | "conversation", seq: number, plain: string): string => {
  switch (idForm) {
    case "plain":
      return plain
    case "uuid":
      return uuid(`${kind} ${seq}`)
    case "special":
      return `${kind}/é ${seq}%2F?a=b&c#d+e;"☃😀`
    case "prefixed":
      return `${kind}_${String(seq).padStart(8, "0")}`
  }
}
