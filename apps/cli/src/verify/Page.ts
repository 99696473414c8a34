/** The report as one self-contained HTML page, for light and dark colour schemes. */
import { bySection, type CheckedRule, learntEntries, type Report, summary, words } from "./Report.ts"

const style = `
:root { color-scheme: light dark; --page: #f6f7f9; --card: #fff; --text: #1a1d23; --soft: #555d6b; --line: #d5d9e0;
  --good: #14622f; --bad: #a81b1b; }
@media (prefers-color-scheme: dark) { :root { --page: #14161a; --card: #1d2026; --text: #e8eaee; --soft: #a9b1bf; --line: #3a404b;
  --good: #93dba9; --bad: #ffa8a8; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; margin: .5rem 0; }
h2 { font-size: 1.15rem; margin: 1.75rem 0 .5rem; }
p { margin: .25rem 0; }
ul, dl { list-style: none; margin: 0; padding: 0; background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
li, dl div { padding: .5rem .75rem; }
li + li, dl div + div { border-top: 1px solid var(--line); }
.status { font-size: .85rem; font-weight: 600; color: var(--soft); margin: 0; }
.confirmed .status { color: var(--good); }
.contradicted .status { color: var(--bad); }
.detail { color: var(--soft); font-size: .9rem; }
dt { font-size: .85rem; font-weight: 600; color: var(--soft); }
dd { margin: 0; }
@media (min-width: 40rem) {
  li { display: grid; grid-template-columns: 8rem 1fr; column-gap: 1rem; }
  .status { grid-row: 1 / span 2; line-height: 1.5rem; }
  .rule, .detail { grid-column: 2; }
  dl div { display: grid; grid-template-columns: 15rem 1fr; column-gap: 1rem; }
  dt { line-height: 1.5rem; }
}`

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;" }

const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? character)

const item = ({ detail, id, rule, status }: CheckedRule): string =>
  `<li class="${status}" id="${escape(id)}"><p class="status">${words[status]}</p><p class="rule">${escape(rule)}</p><p class="detail">${
    escape(detail)
  }</p></li>`

/** Renders the page. Every text is escaped. */
export const render = (report: Report): string => {
  const sections = bySection(report.rules).map(([section, rules]) =>
    `<h2>${escape(section)}</h2>\n<ul>\n${rules.map(item).join("\n")}\n</ul>`
  )
  const learnt = learntEntries(report).map(([name, value]) => `<div><dt>${escape(name)}</dt><dd>${escape(value)}</dd></div>`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>plaza verify: ${escape(report.baseUrl)}</title>
<style>${style}
</style>
</head>
<body>
<main>
<h1>Verification of ${escape(report.baseUrl)}</h1>
<p>${escape(summary(report))}</p>
<p class="detail">${report.requests} requests, started at <time datetime="${escape(report.startedAt)}">${
    escape(report.startedAt)
  }</time></p>
${sections.join("\n")}
<h2>Learnt of the open points</h2>
${learnt.length === 0 ? "<p>Nothing.</p>" : `<dl>\n${learnt.join("\n")}\n</dl>`}
</main>
</body>
</html>
`
}
