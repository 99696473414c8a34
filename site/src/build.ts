/** Makes the site: the pages of `docs/`, the API reference, a search. Fails if a link or an anchor of the site leads nowhere. */
import { rmSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "vitepress"
import * as ApiReference from "./ApiReference.js"
import * as Links from "./Links.js"
import { groupsOf } from "./Navigation.js"
import * as Pages from "./Pages.js"
import { base, navigation, pages, site } from "./Paths.js"

rmSync(pages, { recursive: true, force: true })
const titles = new Map(Pages.copy())
for (const { page, text } of ApiReference.make()) titles.set(page, Pages.write(page, text))
writeFileSync(navigation, JSON.stringify(groupsOf(titles)))
await build(dirname(fileURLToPath(new URL(".", import.meta.url))))
const { broken, count } = Links.check(site, base)
for (const link of broken) process.stderr.write(`${link}\n`)
process.stdout.write(`site: ${titles.size} pages, ${count} links, ${broken.length} broken\n`)
process.exitCode = broken.length > 0 || count === 0 ? 1 : 0
