/** Lines for sh, fish and PowerShell that set the base URL and the key. */
import type { Html } from "./Html.ts"
import * as Layout from "./Layout.ts"
import * as Tabs from "./Tabs.ts"

/** A prefix of keys may have characters that mean something to a shell. */
const isPlain = (text: string): boolean => /^[\w@%+=:,./-]+$/.test(text)

const forSh = (text: string): string => isPlain(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
const forFish = (text: string): string => isPlain(text) ? text : `'${text.replaceAll(/['\\]/g, "\\$&")}'`
const forPowerShell = (text: string): string => isPlain(text) ? `"${text}"` : `'${text.replaceAll("'", "''")}'`

/** Tabs with the lines of each shell. `prefix`: the prefix of their ids. */
export const view = (baseUrl: string, key: string, prefix = "shell"): Html => {
  const tab = (id: string, name: string, lines: string): Tabs.Tab => ({
    id,
    name,
    content: Layout.snippet(`${prefix}-${id}-lines`, `the lines for ${name.replace(/,.*/, "")}`, lines)
  })
  return Tabs.view(prefix, "Shell", [
    tab("sh", "sh, bash, zsh", `export PLAZA_BASE_URL=${forSh(baseUrl)}\nexport PLAZA_API_KEY=${forSh(key)}`),
    tab("fish", "fish", `set -gx PLAZA_BASE_URL ${forFish(baseUrl)}\nset -gx PLAZA_API_KEY ${forFish(key)}`),
    tab("powershell", "PowerShell", `$env:PLAZA_BASE_URL = ${forPowerShell(baseUrl)}\n$env:PLAZA_API_KEY = ${forPowerShell(key)}`)
  ])
}
