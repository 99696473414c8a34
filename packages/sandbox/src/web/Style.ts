/**
 * The stylesheet of the pages, for light and dark colour schemes. A string, so that a bundle contains it. All text
 * has a contrast of at least 4.5:1.
 *
 * @since 0.1.0
 */

/** @since 0.1.0 @category constants */
export const style = `
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --text: #1a1d23; --soft: #555d6b; --line: #d5d9e0;
  --accent: #1b54c4; --on-accent: #ffffff; --bad: #a81b1b; --bad-back: #fdecec; --good: #14622f; --good-back: #e6f5ea;
  --note: #6b4a00; --note-back: #fdf3d9;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14161a; --card: #1d2026; --text: #e8eaee; --soft: #a9b1bf; --line: #3a404b;
    --accent: #8db4ff; --on-accent: #10131a; --bad: #ffa8a8; --bad-back: #3a1d1f; --good: #93dba9; --good-back: #173021;
    --note: #f3d27c; --note-back: #352b12;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
a { color: var(--accent); text-underline-offset: .15em; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
.skip { position: absolute; left: -999em; }
.skip:focus { left: 1rem; top: .5rem; background: var(--card); padding: .5rem 1rem; z-index: 1; }
header, main, footer { max-width: 68rem; margin: 0 auto; padding: 0 1rem; }
header { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; align-items: baseline; padding-top: 1rem; }
header .name { font-weight: 700; color: var(--text); text-decoration: none; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; margin: 0; padding: 0; }
nav a[aria-current] { color: var(--text); font-weight: 600; text-decoration: none; border-bottom: 2px solid var(--accent); }
footer { color: var(--soft); padding-bottom: 2rem; font-size: .9rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 1.5rem 0 .5rem; }
h2 { font-size: 1.2rem; margin: 0 0 .75rem; }
h3 { font-size: 1.05rem; margin: 1.25rem 0 .5rem; }
h4 { font-size: 1rem; margin: 1rem 0 .25rem; }
main > h2 { margin-top: 2.5rem; }
section > h3:first-child { margin-top: 0; }
p { margin: 0 0 .75rem; }
.soft { color: var(--soft); }
section { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 1.25rem; margin: 1.25rem 0; }
section > :last-child, .message > :last-child { margin-bottom: 0; }
.message { border-radius: 8px; padding: .75rem 1rem; margin: 1rem 0; border-left: 4px solid currentColor; }
.good { color: var(--good); background: var(--good-back); }
.bad { color: var(--bad); background: var(--bad-back); }
.note { color: var(--note); background: var(--note-back); }
.message a { color: inherit; }
.badge { display: inline-block; border-radius: 1rem; padding: 0 .6rem; font-size: .875rem; font-weight: 600; border: 1px solid var(--line); white-space: nowrap; }
.badge.good, .badge.bad, .badge.note { border-color: transparent; }
label, legend { font-weight: 600; }
fieldset { border: 1px solid var(--line); border-radius: 6px; margin: 0 0 1rem; padding: .75rem 1rem; min-width: 0; }
.field { margin-bottom: 1rem; }
.field label { display: block; }
.field label .soft { font-weight: 400; }
.field > .soft, .field > .error { display: block; font-size: .9rem; }
.error { color: var(--bad); font-weight: 600; }
.fields { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(13rem, 100%), 1fr)); gap: 0 1rem; align-items: end; }
.choice { display: flex; gap: .5rem; align-items: baseline; margin: .25rem 0; }
.choice label { font-weight: 400; }
.choices { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(19rem, 100%), 1fr)); gap: 0 1rem; }
input:not([type=checkbox]), select, textarea {
  width: 100%; font: inherit; color: inherit; background: var(--page); border: 1px solid var(--soft); border-radius: 6px; padding: .4rem .6rem;
}
textarea { min-height: 6rem; resize: vertical; }
[aria-invalid=true] { border-color: var(--bad) !important; border-width: 2px !important; }
button {
  font: inherit; font-weight: 600; cursor: pointer; border-radius: 6px; padding: .4rem .9rem; border: 1px solid var(--accent);
  background: var(--accent); color: var(--on-accent);
}
button.quiet:not([aria-pressed=true]) { background: transparent; color: var(--accent); }
button.danger { background: transparent; color: var(--bad); border-color: var(--bad); }
.actions { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }
.actions form { margin: 0; }
.secret { display: flex; flex-wrap: wrap; gap: .5rem; }
.secret input { flex: 1 1 26rem; min-width: 0; }
code, pre, .secret input { font-family: ui-monospace, monospace; font-size: .9em; }
pre { overflow-x: auto; margin: 0 0 .75rem; padding: .75rem; background: var(--page); border: 1px solid var(--line); border-radius: 6px; }
.scroll { overflow-x: auto; margin-bottom: .75rem; }
table { border-collapse: collapse; width: 100%; font-size: .925rem; overflow-wrap: normal; }
caption { text-align: left; color: var(--soft); padding-bottom: .25rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); }
tbody th { font-weight: 600; }
tbody th .soft { font-weight: 400; }
td.long { min-width: 14rem; white-space: pre-wrap; overflow-wrap: anywhere; }
summary { cursor: pointer; color: var(--accent); }
td summary, td > code { white-space: nowrap; }
article + article { border-top: 1px solid var(--line); margin-top: 1rem; }
article h3 { margin-top: 1rem; }
h2 + article h3 { margin-top: 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: 0 0 .75rem; }
dt { font-weight: 600; }
dd { margin: 0; min-width: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.method { font-weight: 700; }
@media (max-width: 30rem) { section { padding: 1rem; } dl { grid-template-columns: 1fr; } dd { margin-bottom: .5rem; } }
`
