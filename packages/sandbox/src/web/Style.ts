/**
 * The stylesheet of the pages, for light and dark colour schemes. A string, so that a bundle contains it. All text
 * has a contrast of at least 4.5:1.
 */

export const style = `
:root {
  color-scheme: light dark;
  --page: #f5f6f8; --card: #ffffff; --inset: #f5f6f8; --text: #1a1d23; --soft: #545c69; --line: #dcdfe5; --field: #8a93a1;
  --accent: #1b54c4; --on-accent: #ffffff; --hover: #eef3fd;
  --bad: #a81b1b; --bad-back: #fdecec; --good: #14622f; --good-back: #e6f5ea; --note: #6b4a00; --note-back: #fdf3d9;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14161a; --card: #1b1e24; --inset: #14161a; --text: #e6e8ec; --soft: #a6aebb; --line: #343a44; --field: #77808f;
    --accent: #8db4ff; --on-accent: #10131a; --hover: #222835;
    --bad: #ffa8a8; --bad-back: #3a1d1f; --good: #93dba9; --good-back: #173021; --note: #f3d27c; --note-back: #352b12;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--page); color: var(--text); font: .9375rem/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
a { color: var(--accent); text-underline-offset: .15em; text-decoration-thickness: 1px; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
.skip { position: absolute; left: -999em; }
.skip:focus { left: 1rem; top: .5rem; background: var(--card); padding: .5rem 1rem; z-index: 3; }
main, footer, .bar { max-width: 76rem; margin: 0 auto; padding: 0 1.25rem; }
header { background: var(--card); border-bottom: 1px solid var(--line); }
header .bar { display: flex; flex-wrap: wrap; gap: 0 1.75rem; align-items: center; min-height: 3.25rem; }
header .name { font-weight: 700; color: var(--text); text-decoration: none; display: flex; gap: .5rem; align-items: center; padding: .6rem 0; }
header #world { margin-left: auto; }
header .name img { width: 1.25rem; height: 1.25rem; }
nav ul { display: flex; flex-wrap: wrap; list-style: none; margin: 0; padding: 0; gap: 0 1.25rem; }
nav a { text-decoration: none; color: var(--soft); display: block; padding: .85rem 0 calc(.85rem - 2px); border-bottom: 2px solid transparent; }
nav a:hover { color: var(--text); }
nav a[aria-current] { color: var(--text); font-weight: 600; border-color: var(--accent); }
nav.tabs { border-bottom: 1px solid var(--line); margin: 0 0 1rem; }
nav.tabs a { padding: .5rem 0 calc(.5rem - 1px); margin-bottom: -1px; }
footer { color: var(--soft); padding-top: 1rem; padding-bottom: 2rem; font-size: .875rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 1.5rem 0 .25rem; letter-spacing: -.01em; }
h1 + .lead { color: var(--soft); margin-bottom: 1rem; max-width: 52rem; }
h2 { font-size: 1.0625rem; line-height: 1.35; margin: 0 0 .75rem; }
h3 { font-size: .9375rem; margin: 1.25rem 0 .4rem; }
h4 { font-size: .875rem; margin: 1rem 0 .25rem; color: var(--soft); }
main > h2, .sidebar > div > h2 { margin-top: 2.25rem; font-size: 1.2rem; }
section > h3:first-child, section > h4:first-child { margin-top: 0; }
p { margin: 0 0 .75rem; }
.soft { color: var(--soft); }
.small { font-size: .875rem; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 1rem 1.25rem; margin: 1rem 0; }
section > :last-child, .message > :last-child, td > :last-child, dd > :last-child { margin-bottom: 0; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(24rem, 100%), 1fr)); gap: 1rem; align-items: start; margin: 1rem 0; }
.columns > section { margin: 0; min-width: 0; }
.message { border-radius: 6px; padding: .6rem 1rem; margin: 1rem 0; border-left: 4px solid currentColor; }
.good { color: var(--good); background: var(--good-back); }
.bad { color: var(--bad); background: var(--bad-back); }
.note { color: var(--note); background: var(--note-back); }
.message a { color: inherit; }
.badge { display: inline-block; border-radius: 1rem; padding: 0 .55rem; font-size: .8125rem; font-weight: 600; border: 1px solid var(--line); white-space: nowrap; }
.badge.good, .badge.bad, .badge.note { border-color: transparent; }
label, legend { font-weight: 600; }
fieldset { border: 1px solid var(--line); border-radius: 6px; margin: 0 0 1rem; padding: .6rem 1rem; min-width: 0; }
.field { margin-bottom: .9rem; max-width: 40rem; }
.field label { display: block; }
.field label .soft { font-weight: 400; }
.field > .soft, .field > .error { display: block; font-size: .875rem; }
.error { color: var(--bad); font-weight: 600; }
.fields { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(13rem, 100%), 1fr)); gap: 0 1rem; align-items: start; }
.fields .optional { display: none; }
.fields label.required:has(+ :required:not(select))::after { content: " required"; color: var(--soft); font-weight: 400; font-size: .8125rem; }
.fields .field.long { grid-column: 1 / -1; max-width: none; }
.choice { display: flex; gap: .5rem; align-items: baseline; margin: .2rem 0; }
.choice label { font-weight: 400; min-width: 0; }
.choices { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr)); gap: .1rem 1rem; }
.all:has(:checked) ~ .choices { opacity: .6; }
input:not([type=checkbox], [type=radio]), select, textarea {
  width: 100%; font: inherit; color: inherit; background: var(--card); border: 1px solid var(--field); border-radius: 6px; padding: .35rem .6rem;
}
input[type=checkbox], input[type=radio] { accent-color: var(--accent); }
textarea { min-height: 5rem; resize: vertical; }
input.code, textarea.code { font-family: var(--mono); font-size: .875rem; }
[aria-invalid=true] { border-color: var(--bad) !important; border-width: 2px !important; }
button, a.button {
  font: inherit; font-weight: 600; cursor: pointer; border-radius: 6px; padding: .35rem .85rem; border: 1px solid var(--accent);
  background: var(--accent); color: var(--on-accent); text-decoration: none; display: inline-block; white-space: nowrap;
}
button.quiet:not([aria-pressed=true]), a.button.quiet { background: transparent; color: var(--accent); border-color: var(--field); }
button.danger { background: transparent; color: var(--bad); border-color: var(--bad); }
button:hover, a.button:hover { filter: brightness(1.08); }
button.quiet:hover, button.danger:hover, a.button.quiet:hover { background: var(--hover); filter: none; }
td button, .inline button, .copyable button, .snippet button { padding: .1rem .6rem; font-size: .875rem; }
td input:not([type=checkbox]), td select { padding: .1rem .4rem; font-size: .875rem; }
.actions { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }
.actions form { margin: 0; }
td .actions { flex-wrap: nowrap; }
.inline { display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; margin: 0; }
td .inline { flex-wrap: nowrap; }
.inline input[type=number] { width: 6.5rem; }
.inline select { width: auto; max-width: 100%; }
code, pre, .mono, .copyable input { font-family: var(--mono); font-size: .8125rem; }
h3 code, h1 code { font-size: .9em; }
pre { overflow-x: auto; margin: 0 0 .75rem; padding: .6rem .75rem; background: var(--inset); border: 1px solid var(--line); border-radius: 6px; line-height: 1.5; }
pre.wrap { white-space: pre-wrap; overflow-wrap: anywhere; }
pre.body { max-height: 26rem; overflow: auto; }
.copyable { display: flex; gap: .5rem; }
.copyable input { flex: 1; min-width: 0; background: var(--inset) !important; }
.snippet { display: flex; gap: .5rem; align-items: start; margin-bottom: .75rem; }
.snippet pre { flex: 1; min-width: 0; margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.copyable + p { margin-top: .4rem; }
.result { margin-top: 1rem; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1.25rem; margin: 0 0 .75rem; }
.facts dt { font-weight: 400; color: var(--soft); }
.facts dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
.facts dd.kept { white-space: pre-wrap; }
.scroll { overflow-x: auto; margin-bottom: .75rem; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; overflow-wrap: normal; }
th, td { text-align: left; vertical-align: top; padding: .35rem 1rem .35rem 0; border-bottom: 1px solid var(--line); }
th:last-child, td:last-child { padding-right: 0; }
thead th { color: var(--soft); font-weight: 600; font-size: .8125rem; white-space: nowrap; }
tbody th { font-weight: 600; }
tbody th .soft { font-weight: 400; }
tbody tr:last-child > * { border-bottom: 0; }
tbody tr:hover { background: var(--hover); }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.long { min-width: 14rem; overflow-wrap: anywhere; }
td.kept { white-space: pre-wrap; }
td.nowrap, .nowrap { white-space: nowrap; }
summary { cursor: pointer; color: var(--accent); width: fit-content; }
details { margin-bottom: .75rem; }
details > summary + * { margin-top: .5rem; }
details.group { border-top: 1px solid var(--line); margin: 0; padding: .5rem 0; }
td summary, td > code { white-space: nowrap; }
article + article { border-top: 1px solid var(--line); margin-top: 1rem; padding-top: 1rem; }
article h3 { margin-top: 0; }
.method { font-family: var(--mono); font-size: .8125rem; font-weight: 700; }
.status { font-family: var(--mono); font-size: .8125rem; font-weight: 700; white-space: nowrap; }
.status.s2 { color: var(--good); } .status.s3 { color: var(--note); } .status.s4, .status.s5, .status.lost { color: var(--bad); }
body:has(.beside) :is(main, footer, .bar) { max-width: 110rem; }
.beside > .list, .beside > .panel { min-width: 0; }
.beside > .list { margin: 0; padding: .25rem .75rem; }
.panel > :first-child { margin: 0; }
.panel:empty { display: none; }
.panel > section { margin: .75rem 0 0; }
.panel .back { display: none; }
@media (min-width: 64rem) {
  .beside.open { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 30rem); gap: 1rem; align-items: start; }
  .beside.open > .panel { position: sticky; top: 4.5rem; max-height: calc(100vh - 5rem); overflow-y: auto; padding: 2px; }
  .beside.open .took, .beside.open .account, .beside.open .why { display: none; }
}
table.log { table-layout: fixed; }
table.log td, table.log th { padding-top: .25rem; padding-bottom: .25rem; }
table.log tr > * { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
table.log tbody .path { font-weight: 400; }
table.log .time { width: 7.75rem; } table.log .response { width: 9.5rem; } table.log .took { width: 4.75rem; } table.log .account { width: 7.5rem; }
table.log .why { width: 33%; }
table.log th a:not(:hover) { text-decoration: none; }
table.log tbody + tbody { border-top: 1px solid var(--line); } table.log tbody tr > * { border-bottom: 0; }
table.log tbody.call .time { border-left: 3px solid var(--accent); padding-left: .5rem; }
table.log .summary th { font-weight: 600; font-size: .8125rem; border-left: 3px solid var(--accent); padding-left: .5rem; white-space: normal; }
table.log tr[aria-current] { background: var(--hover); box-shadow: inset 3px 0 var(--accent); }
ol.steps { margin: 1rem 0; padding-left: 1.5rem; } ol.steps li { margin-bottom: .5rem; } ol.steps a:not(:hover) { text-decoration: none; }
ol.attempts { margin: 0 0 .5rem; padding-left: 1.5rem; }
table.log tr[data-request] { cursor: pointer; }
kbd { font: .75rem var(--mono); border: 1px solid var(--field); border-radius: 4px; padding: 0 .3rem; }
.filters {
  position: sticky; top: 0; z-index: 2; background: var(--page); border-bottom: 1px solid var(--line); padding: .6rem 0; margin: 0 0 .75rem;
  display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: end;
}
section .filters { position: static; background: none; padding-top: 0; }
.actions + details { margin: .75rem 0 0; }
form + p, form + form { margin-top: .75rem; }
.filters .field { margin: 0; }
.filters .field.wide { flex: 1 1 14rem; }
.filters label { font-size: .8125rem; color: var(--soft); }
.filters .actions { margin-left: auto; }
.empty { padding: 1.5rem; text-align: center; color: var(--soft); }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(16rem, 100%), 1fr)); gap: .75rem; list-style: none; margin: 0; padding: 0; }
.cards li { border: 1px solid var(--line); border-radius: 6px; padding: .75rem 1rem; background: var(--card); position: relative; }
.cards li:hover { border-color: var(--accent); }
.cards a { font-weight: 600; } .cards a::after { content: ""; position: absolute; inset: 0; }
.cards p { margin: .15rem 0 0; color: var(--soft); font-size: .875rem; }
.presets { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr)); gap: .75rem; }
.preset { border: 1px solid var(--line); border-radius: 6px; padding: .75rem 1rem; display: grid; grid-template-columns: 1fr auto; gap: 0 1rem; align-items: start; grid-template-rows: auto 1fr; }
.preset h3 { margin: 0; } .preset p { margin: 0; grid-column: 1; } .preset form { grid-area: 1 / 2 / span 2; }
.sidebar { display: grid; grid-template-columns: 15rem minmax(0, 1fr); gap: 2rem; align-items: start; }
.sidebar > nav { position: sticky; top: 1rem; max-height: calc(100vh - 2rem); overflow-y: auto; font-size: .8125rem; padding: .25rem; }
.sidebar > nav ul { display: block; margin-bottom: .5rem; } .sidebar > nav a { padding: .12rem 0; border: 0; overflow-wrap: anywhere; }
.sidebar > nav .area { font-weight: 600; color: var(--text); }
.sidebar > nav code { font-size: .75rem; }
dialog { color: var(--text); background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1.25rem; max-width: min(30rem, calc(100vw - 2rem)); }
dialog::backdrop { background: rgb(0 0 0 / .45); }
#announcements { position: fixed; bottom: 1rem; right: 1rem; margin: 0; z-index: 3; max-width: calc(100vw - 2rem); }
#announcements:not(:empty) { background: var(--text); color: var(--page); border-radius: 6px; padding: .5rem 1rem; }
.unseen { position: absolute; width: 1px; height: 1px; margin: -1px; padding: 0; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.method.get { color: var(--accent); } .method.post { color: var(--good); } .method.patch, .method.put { color: var(--note); } .method.delete { color: var(--bad); }
.fields.even { grid-template-columns: repeat(auto-fit, minmax(min(13rem, 100%), 1fr)); }
.pills ul { gap: .4rem; margin: 0 0 .75rem; }
.pills a { border: 1px solid var(--line); border-radius: 1rem; background: var(--card); padding: .15rem .75rem; font-size: .875rem; white-space: nowrap; }
.pills a:hover { border-color: var(--accent); }
.pills a[aria-current] { border-color: var(--accent); background: var(--accent); color: var(--on-accent); }
.pills .count { font-variant-numeric: tabular-nums; margin-left: .15rem; }
tbody th .requests { font-weight: 400; }
details.group + p { margin-top: .75rem; }
.operation a:not(:hover) { text-decoration: none; } .operation a code { color: var(--text); }
th.operation .method { display: inline-block; min-width: 3.7rem; } h2.operation .method, h2.operation code { font-size: 1rem; margin-right: .25rem; }
th.operation { width: 45%; } td.scope { width: 9rem; }
.operation code { overflow-wrap: anywhere; }
tr:target, li:target { background: var(--hover); outline: 2px solid var(--accent); outline-offset: 2px; }
.names { columns: 12rem; margin: 0; padding-left: 1.1rem; }
.sidebar > div > :first-child { margin-top: 0; }
.sidebar > nav a[aria-current] { color: var(--accent); }
.try textarea { min-height: 6.5rem; } .try > summary { font-weight: 600; } .try { border-top: 1px solid var(--line); padding-top: .75rem; margin-top: 1rem; }
.switch { border: 0; padding: 0; margin: 0 0 .75rem; position: relative; }
.switch > input { position: absolute; opacity: 0; pointer-events: none; }
.switch > label { display: inline-block; cursor: pointer; font-weight: 400; font-size: .875rem; color: var(--soft); padding: .25rem 0; margin: 0 1rem .5rem 0; border-bottom: 2px solid transparent; }
.switch > label:hover { color: var(--text); }
.switch > input:checked + label { color: var(--text); font-weight: 600; border-color: var(--accent); }
.switch > input:focus-visible + label { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
.switch > div { display: none; }
.switch > input:nth-of-type(1):checked ~ div:nth-of-type(1), .switch > input:nth-of-type(2):checked ~ div:nth-of-type(2),
.switch > input:nth-of-type(3):checked ~ div:nth-of-type(3), .switch > input:nth-of-type(4):checked ~ div:nth-of-type(4) { display: block; }
.switch > div > :last-child { margin-bottom: 0; }
@media (max-width: 56rem) { .sidebar { grid-template-columns: minmax(0, 1fr); gap: 1rem; } .sidebar > nav { position: static; max-height: 16rem; border: 1px solid var(--line); border-radius: 6px; padding: .5rem .75rem; background: var(--card); } }
@media (max-width: 40rem) {
  main, footer, .bar { padding-left: .75rem; padding-right: .75rem; }
  section { padding: .85rem; }
  header .bar { padding-top: .25rem; } header .name { padding: .3rem 0; } header nav a { padding: .35rem 0; }
  .facts { grid-template-columns: 1fr; gap: 0; } .facts dd { margin-bottom: .5rem; }
  .filters { position: static; } .filters .field, .filters .field.wide { flex: 1 1 8rem; } .filters .actions { margin-left: 0; }
  .columns { gap: .75rem; }
  header .bar nav ul { gap: 0 .9rem; } header nav a { font-size: .875rem; }
  nav.tabs ul { flex-wrap: nowrap; overflow-x: auto; gap: 0 .8rem; } nav.tabs a { white-space: nowrap; margin-bottom: 0; font-size: .8125rem; }
  table.stack thead { position: absolute; left: -999em; }
  table.stack, table.stack tbody, table.stack tr, table.stack th, table.stack td { display: block; }
  table.stack tr { border-bottom: 1px solid var(--line); padding: .5rem 0; } table.stack tr:last-child { border-bottom: 0; }
  table.stack th, table.stack td { border: 0; padding: .1rem 0; min-width: 0; text-align: left; } table.stack td code { overflow-wrap: anywhere; }
  table.stack td:empty { display: none; }
  table.stack td[data-label]::before { content: attr(data-label) ": "; color: var(--soft); }
  td .actions, td .inline { flex-wrap: wrap; }
  table.log.stack tr { display: flex; flex-wrap: wrap; gap: 0 .75rem; } table.log.stack th { flex: 1 0 100%; order: -1; }
  table.log.stack tr > * { width: auto; white-space: normal; overflow-wrap: anywhere; } table.log.stack .took, table.log.stack .account { display: none; }
  table.log tbody.call { border-left: 3px solid var(--accent); padding-left: .5rem; } table.log.stack tbody.call tr > * { border-left: 0; padding-left: 0; }
  table.log.stack th a { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden; }
  table.log.stack tr { border-bottom: 0; } table.log.stack td:empty { display: none; }
  .panel .back { display: inline; } .keys { display: none; }
}
`
