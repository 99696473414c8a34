/** The forms in which a service or a proxy may echo an API key, and a check that a text contains none of them. */

const hex = (character: string): string => character.charCodeAt(0).toString(16).padStart(2, "0")

const each = (encode: (character: string, index: number) => string) => (key: string): string => Array.from(key, encode).join("")

const base64 = (before: string, encoding: "base64" | "base64url") => (key: string): string =>
  Buffer.from(`${before}${key}`).toString(encoding)

/** Each form of a key, by a name. */
export const forms: Readonly<Record<string, (key: string) => string>> = {
  plain: (key) => key,
  "without its prefix": (key) => key.slice(-40),
  "in lower case": (key) => key.toLowerCase(),
  "in upper case": (key) => key.toUpperCase(),
  "percent-encoded": each((character) => `%${hex(character)}`),
  "partly percent-encoded": each((character, index) => index % 3 === 0 ? `%${hex(character).toUpperCase()}` : character),
  "percent-encoded twice": each((character) => `%25${hex(character)}`),
  "with JSON escapes": each((character) => `\\u00${hex(character)}`),
  "partly with JSON escapes": each((character, index) => index % 5 === 1 ? `\\u00${hex(character).toUpperCase()}` : character),
  "with escapes of JavaScript": each((character) => `\\x${hex(character)}`),
  "with HTML entities": each((character, index) => index % 2 === 0 ? `&#${character.charCodeAt(0)};` : `&#x${hex(character)};`),
  "in hexadecimal": each(hex),
  "in base64": base64("", "base64"),
  "in base64 as a bearer": base64("Bearer ", "base64"),
  "in base64 of Basic": base64("user:", "base64"),
  "in base64url": base64("u:", "base64url"),
  "in base64 in lower case": (key) => base64(":", "base64url")(key).toLowerCase()
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: "\"", apos: "'", sol: "/", lowbar: "_" }

/** A text, and what it decodes to. */
const views = (text: string): ReadonlyArray<string> => {
  const layers = [text]
  for (let level = 0; level < 7; level++) {
    layers.push((layers.at(-1) ?? "").replace(
      /\\+(?:(?:u00|x)([0-9a-f]{2})|([^\\]))|%(?:u00)?([0-9a-f]{2})|&#0*(1[01]\d|12[0-6]|[3-9]\d);?|&#x0*([2-7][0-9a-f]);?|&(amp|lt|gt|quot|apos|sol|lowbar);?/gi,
      (all, backslash?: string, escaped?: string, percent?: string, decimal?: string, hex?: string, name?: string) => {
        const code = backslash ?? percent ?? hex
        return code !== undefined
          ? String.fromCharCode(Number.parseInt(code, 16))
          : decimal !== undefined
          ? String.fromCharCode(Number(decimal))
          : name !== undefined
          ? entities[name.toLowerCase()] ?? all
          : escaped ?? all
      }
    ))
  }
  const joined = text.replaceAll(/\s|\\[rnt]/g, "")
  const encoded = [0, 1, 2, 3].map((shift) => Buffer.from(joined.replaceAll(/[^\w+/-]/g, "").slice(shift), "base64").toString("latin1"))
  const inHex = [0, 1].map((shift) => Buffer.from(joined.replaceAll(/[^0-9a-f]/gi, "").slice(shift), "hex").toString("latin1"))
  return [...layers, joined, ...encoded, ...inHex].map((view) => view.toLowerCase())
}

/** Whether a text contains the 40 characters of a key in any form. */
export const isLeaking = (text: string, key: string): boolean => views(text).some((view) => view.includes(key.slice(-40).toLowerCase()))
