/**
 * Changes texts, the order of media and ids as a latitude permits, when a write is carried out.
 *
 * @since 0.1.0
 */
import { createHash } from "node:crypto"
import { type Latitude, type TextForm } from "../Latitude.ts"

const shortLink = (address: string): string => `https://l.example/${createHash("sha256").update(address).digest("hex").slice(0, 8)}`

const emojiNames: Readonly<Record<string, string>> = { "😀": "grinning", "😂": "joy", "🎉": "tada", "👍": "+1", "🔥": "fire" }

const emojiCode = (emoji: string): string => `:${emojiNames[emoji] ?? `emoji_${emoji.codePointAt(0)?.toString(16) ?? ""}`}:`

const smart = (text: string): string =>
  text
    .replace(/(^|[\s([{])"/g, "$1\u201c").replace(/"/g, "\u201d")
    .replace(/(^|[\s([{\u201c])'/g, "$1\u2018").replace(/'/g, "\u2019")
    .replace(/---?/g, "\u2014").replace(/\.\.\./g, "\u2026")

/** The names of HTML entities for U+00A0 to U+00FF. */
const latinNames = (
  "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot " +
  "cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml " +
  "Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig " +
  "agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute " +
  "ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml"
).split(" ")
const entityNames: ReadonlyMap<string, string> = new Map([
  ...latinNames.map((name, index) => [String.fromCharCode(0xa0 + index), name] as const),
  ["\u0152", "OElig"],
  ["\u0153", "oelig"],
  ["\u2013", "ndash"],
  ["\u2014", "mdash"],
  ["\u2018", "lsquo"],
  ["\u2019", "rsquo"],
  ["\u201c", "ldquo"],
  ["\u201d", "rdquo"],
  ["\u2022", "bull"],
  ["\u2026", "hellip"],
  ["\u20ac", "euro"],
  ["\u2122", "trade"]
])

const namedEntity = (character: string): string => {
  const name = entityNames.get(character)
  return name === undefined ? character : `&${name};`
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;" }

/** The forms, in the order in which they apply. */
const forms: ReadonlyArray<readonly [TextForm, (text: string) => string]> = [
  ["linksShortened", (text) => text.replace(/https?:\/\/[^\s<>"]+/gi, shortLink)],
  ["emojiCodes", (text) => text.replace(/\p{Emoji_Presentation}/gu, emojiCode)],
  ["smartPunctuation", smart],
  ["trimmed", (text) => text.trim()],
  ["lf", (text) => text.replace(/\r\n?/g, "\n")],
  ["collapsed", (text) => text.replace(/\s+/g, " ")],
  ["htmlEscaped", (text) => text.replace(/[&<>"']/g, (character) => entities[character] ?? character)],
  ["nfc", (text) => text.normalize("NFC")],
  ["namedEntities", (text) => text.replace(/[^\0-\x7f]/gu, namedEntity)],
  ["numericEntities", (text) => text.replace(/[^\0-\x7f]/gu, (character) => `&#${character.codePointAt(0) ?? 0};`)]
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

/**
 * The stored form of a text.
 *
 * @since 0.1.0
 * @category writing
 */
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
 * The id of a new resource by its sequence number; `plain` is its id without a latitude.
 *
 * @since 0.1.0
 * @category writing
 */
export const id = (
  { idForm }: Latitude,
  kind: "post" | "media" | "conversation" | "user" | "product" | "order",
  seq: number,
  plain: string
): string => {
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
