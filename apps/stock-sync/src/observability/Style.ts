/**
 * The stylesheet of the status page, for light and dark colour schemes, the script that updates the page, and the icon. They are strings, so
 * that a bundle contains them. All text has a contrast of at least 4.5:1.
 */

export const style = `
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --text: #1a1d23; --soft: #555d6b; --line: #d5d9e0;
  --accent: #1b54c4; --on-accent: #ffffff; --bad: #a81b1b; --bad-back: #fdecec; --good: #14622f; --good-back: #e6f5ea; --note: #6b4a00; --note-back: #fdf3d9;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14161a; --card: #1d2026; --text: #e8eaee; --soft: #a9b1bf; --line: #3a404b;
    --accent: #8db4ff; --on-accent: #10131a; --bad: #ffa8a8; --bad-back: #3a1d1f; --good: #93dba9; --good-back: #173021; --note: #f3d27c; --note-back: #352b12;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
a { color: var(--accent); text-underline-offset: .15em; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
.toolbar { display: flex; flex-wrap: wrap; gap: .25rem .5rem; align-items: baseline; margin: .5rem 0 0; }
.toolbar #notice { color: var(--bad); font-weight: 600; margin-right: auto; }
.search, .pages { display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: center; margin: 0 0 .75rem; }
.pages:not(:empty) { margin: .75rem 0 0; }
input, select { font: inherit; color: inherit; background: var(--page); border: 1px solid var(--soft); border-radius: 6px; padding: .15rem .5rem; min-width: 0; max-width: 100%; }
.skip { position: absolute; left: -999em; }
.skip:focus { left: 1rem; top: .5rem; background: var(--card); padding: .5rem 1rem; z-index: 1; }
header, main, footer { max-width: 72rem; margin: 0 auto; padding: 0 1rem; }
header { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: baseline; padding-top: 1.25rem; }
header > * { min-width: 0; overflow-wrap: anywhere; }
h1 { font-size: 1.25rem; line-height: 1.2; margin: 0; }
h2.headline { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .75rem; text-wrap: balance; }
.numbers { font-size: 1.15rem; font-weight: 600; }
.part { white-space: nowrap; }
h2 { font-size: 1.1rem; margin: 0 0 .75rem; }
h3 { font-size: 1rem; margin: 0 0 .25rem; }
p { margin: 0 0 .75rem; }
.soft, footer { color: var(--soft); }
footer { font-size: .9rem; padding-bottom: 2rem; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 1.25rem; margin: 1rem 0; min-width: 0; }
section > :last-child, section > :last-child > :last-child, .state > :last-child { margin-bottom: 0; }
.state + dl { margin-top: .75rem; }
[hidden] { display: none !important; }
.bar { height: .6rem; border-radius: .3rem; margin: 0 0 1rem; background: var(--line); }
.bar .synced { fill: var(--good); } .bar .waits { fill: var(--soft); } .bar .needs { fill: var(--bad); }
#readiness > :last-child { margin-bottom: .75rem; }
#states:not(:empty), #needing { margin-bottom: 1rem; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(21rem, 100%), 1fr)); gap: 1rem; margin: 1rem 0; align-items: start; }
.columns > * { margin: 0; }
.states { display: grid; gap: .75rem; }
.state { border-left: 4px solid var(--line); padding-left: .75rem; }
.state.good { border-color: var(--good); } .state.note { border-color: var(--note); } .state.bad { border-color: var(--bad); }
.state p { margin-bottom: .35rem; overflow-wrap: anywhere; }
.action { font-weight: 600; }
.badge { display: inline-block; border-radius: 1rem; padding: 0 .6rem; font-size: .875rem; font-weight: 600; white-space: nowrap; }
.badge.good { color: var(--good); background: var(--good-back); }
.badge.note { color: var(--note); background: var(--note-back); }
.badge.bad { color: var(--bad); background: var(--bad-back); }
.scroll { overflow-x: auto; }
.scroll + :not(:empty) { margin-top: .75rem; }
table { border-collapse: collapse; width: 100%; font-size: .925rem; overflow-wrap: normal; }
th, td { text-align: left; vertical-align: top; padding: .35rem 1.25rem .35rem 0; border-bottom: 1px solid var(--line); }
tbody tr:last-child > * { border-bottom: 0; }
tbody th { font-weight: 600; min-width: 11rem; max-width: 22rem; overflow-wrap: anywhere; }
table time, td .badge { white-space: nowrap; }
thead th, td.number, th.number { white-space: nowrap; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
td { overflow-wrap: anywhere; min-width: 9rem; max-width: 22rem; }
td.number { min-width: 0; }
td.long { min-width: 13rem; max-width: none; white-space: pre-wrap; }
td p { margin: 0 0 .25rem; }
dl { display: grid; grid-template-columns: minmax(0, max-content) minmax(9rem, 1fr); gap: .25rem 1rem; margin: 0 0 .75rem; }
dt { color: var(--soft); }
dd { margin: 0; min-width: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(18rem, 100%), 1fr)); gap: .25rem 2rem; }
.facts > div { display: flex; justify-content: space-between; gap: 1rem; border-bottom: 1px solid var(--line); padding: .15rem 0; }
.facts dd { text-align: right; }
figure { margin: 0 0 1rem; }
figcaption { font-weight: 600; margin-bottom: .25rem; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--soft); font-size: 12px; font-variant-numeric: tabular-nums; }
svg .axis line { stroke: var(--line); }
svg .line { fill: none; stroke: var(--accent); stroke-width: 2; stroke-linejoin: round; }
svg .now { fill: var(--accent); }
summary { cursor: pointer; color: var(--accent); }
summary h2 { display: inline; color: var(--text); }
details[open] > summary { margin-bottom: .75rem; }
.count { color: var(--soft); font-weight: 400; }
code { font-family: ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere; background: var(--page); border-radius: 4px; padding: .05em .25em; }
button {
  font: inherit; font-weight: 600; cursor: pointer; border-radius: 6px; padding: .15rem .75rem; border: 1px solid var(--accent);
  background: transparent; color: var(--accent);
}
button[aria-pressed=true] { background: var(--accent); color: var(--on-accent); }
ul { margin: 0 0 .75rem; padding-left: 1.25rem; }
li { overflow-wrap: anywhere; }
@media (max-width: 44rem) {
  section { padding: 1rem; }
  h2.headline { font-size: 1.35rem; }
  .toolbar { font-size: .875rem; }
  .scroll { overflow-x: visible; }
  table, tbody, tr, tbody th, td { display: block; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tr { border-bottom: 1px solid var(--line); padding: .5rem 0; }
  tbody tr:last-child { border-bottom: 0; }
  tbody th, td, td.number { border: 0; padding: .1rem 0; text-align: left; max-width: none; min-width: 0; }
  td[data-head]::before { content: attr(data-head) ": "; color: var(--soft); }
  td:empty { display: none; }
}
`

export const script = `"use strict"
const interval = 10000
const button = document.getElementById("live")
const notice = document.getElementById("notice")
let live = true
const showLive = () => {
  button.setAttribute("aria-pressed", String(live))
}
const update = async () => {
  if (live && !document.hidden) {
    try {
      const response = await fetch(location.href, { headers: { accept: "text/html" } })
      if (!response.ok) throw new Error()
      const page = new DOMParser().parseFromString(await response.text(), "text/html")
      for (const before of document.querySelectorAll("[data-live]")) {
        const after = page.getElementById(before.id)
        // Unchanged elements stay, and with them the reader's scroll position and selection.
        if (after !== null && after.innerHTML !== before.innerHTML) before.replaceChildren(...after.childNodes)
      }
      for (const before of document.querySelectorAll("[data-shown]")) {
        const after = page.getElementById(before.id)
        if (after !== null) before.hidden = after.hidden
      }
      document.title = page.title
      notice.textContent = ""
    } catch {
      notice.textContent = "No response from the program"
    }
  }
  setTimeout(update, interval)
}
button.hidden = false
button.addEventListener("click", () => {
  live = !live
  showLive()
})
showLive()
setTimeout(update, interval)
`

export const icon =
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#1b54c4"/><path d="M3 12V8m5 4V4m5 8V6" fill="none" stroke="#fff" stroke-width="2"/></svg>`
