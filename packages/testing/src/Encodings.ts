/** The forms in which programs save a text file. */

const utf16le = (text: string): Buffer => Buffer.from(`\uFEFF${text}`, "utf16le")

/** By the programs that write it. */
export const encodings: ReadonlyArray<readonly [name: string, encode: (text: string) => Buffer]> = [
  ["UTF-8", (text) => Buffer.from(text)],
  ["UTF-8 with a byte order mark", (text) => Buffer.from(`\uFEFF${text}`)],
  ["UTF-8 with line ends of Windows", (text) => Buffer.from(`\uFEFF${text.replaceAll("\n", "\r\n")}`)],
  ["UTF-16 LE, as > of PowerShell writes it", (text) => utf16le(text.replaceAll("\n", "\r\n"))],
  ["UTF-16 BE", (text) => utf16le(text).swap16()]
]
