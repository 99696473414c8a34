/** Makes the site: the pages of `docs/`, the API reference, a search, `llms.txt`. Fails if a link or an anchor of the site leads nowhere. */
import { rmSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "vitepress"
import * as ApiReference from "./ApiReference.ts"
import * as Links from "./Links.ts"
import * as Llms from "./Llms.ts"
import { groupsOf } from "./Navigation.ts"
import * as Pages from "./Pages.ts"
import { base, navigation, pages, site } from "./Paths.ts"

rmSync(pages, { recursive: true, force: true })
const titles = new Map(Pages.copy())
const references = ApiReference.make()
for (const { page, text } of references.flatMap(({ pages }) => pages)) titles.set(page, Pages.write(page, text))
const groups = groupsOf(titles, references)
writeFileSync(navigation, JSON.stringify(groups))
await build(dirname(fileURLToPath(new URL(".", import.meta.url))))
Llms.write(groups, { base, pages, site })
const { broken, count } = Links.check(site, base)
const missing = Llms.broken(site, base)
for (const link of [...broken, ...missing]) process.stderr.write(`${link}\n`)
process.stdout.write(`site: ${titles.size} pages, ${count} links, ${broken.length + missing.length} broken\n`)
process.exitCode = broken.length + missing.length > 0 || count === 0 ? 1 : 0
