/** Reads the header `Link` (RFC 8288). */

const link = /<([^>]*)>((?:\s*;\s*[^\s=;,]+\s*(?:=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]*))?)*)/g
const parameter = /;\s*([^\s=;,]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?/g

export interface Link {
  /** The address, which may be relative. */
  readonly target: string
  /** In lower case. */
  readonly relations: ReadonlyArray<string>
}

/** The links of the header, in its order. */
export const parse = (value: string): ReadonlyArray<Link> =>
  [...value.matchAll(link)].map(([, target = "", parameters = ""]) => {
    // Only the first `rel` of a link counts.
    const [, , inQuotes, bare] = [...parameters.matchAll(parameter)].find(([, name]) => name?.toLowerCase() === "rel") ?? []
    return { target, relations: (inQuotes ?? bare ?? "").toLowerCase().split(/\s+/).filter((each) => each !== "") }
  })
