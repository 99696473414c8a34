/** Checks the links of a built site: pages, files and anchors. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** The result of a check. */
export interface Result {
  /** The number of links within the site. */
  readonly count: number
  /** Each link that leads nowhere, with its page. */
  readonly broken: ReadonlyArray<string>
}

const decode = (attribute: string) => attribute.replaceAll("&quot;", "\"").replaceAll("&#39;", "'").replaceAll("&amp;", "&")

/** Checks all links of the HTML files of a folder that is served under a base path, such as `/`. */
export const check = (folder: string, base: string): Result => {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".html"))
  const html = new Map(files.map((file) => [file.replaceAll("\\", "/"), readFileSync(join(folder, file), "utf8")]))
  const anchors = new Map(
    [...html].map(([page, text]) => [page, new Set(Array.from(text.matchAll(/\sid="([^"]*)"/g), ([, id = ""]) => decode(id)))])
  )
  const links = [...html].flatMap(([page, text]) =>
    [...new Set(Array.from(text.matchAll(/<a\s[^>]*?href="([^"]*)"/g), ([, href = ""]) => decode(href)))]
      .filter((href) => !/^[a-z]+:/.test(href))
      .map((href) => ({ page, href, url: new URL(href, `http://site${base}${page}`) }))
  )
  const leadsNowhere = (url: URL) => {
    const anchor = decodeURIComponent(url.hash.slice(1))
    const path = decodeURIComponent(url.pathname)
    if (!path.startsWith(base)) return true
    const file = path.slice(base.length).replace(/(^|\/)$/, "$1index.html")
    return anchor === "" ? !existsSync(join(folder, file)) : anchors.get(file)?.has(anchor) !== true
  }
  return { count: links.length, broken: links.filter(({ url }) => leadsNowhere(url)).map(({ href, page }) => `${page}: ${href}`) }
}
