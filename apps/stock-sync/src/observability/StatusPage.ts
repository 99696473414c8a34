/** The status page: how many products are in sync, which ones need a person, and the state of the worker behind it. */
import * as Headline from "./Headline.ts"
import { html } from "./Html.ts"
import * as Page from "./Page.ts"
import type { Status } from "./Status.ts"
import * as Sections from "./StatusSections.ts"
import * as StatusText from "./StatusText.ts"

const name = "plaza-stock-sync"

/** Begins with what a person should see in the title of a tab. */
const titleOf = ({ ledger, reasons }: Status): string => {
  const needing = ledger === undefined ? 0 : Headline.numbers(ledger).needing
  return reasons.length > 0
    ? `Not ready: ${name}`
    : needing > 0
    ? `${StatusText.grouped(needing)} ${needing === 1 ? "needs" : "need"} you: ${name}`
    : name
}

export const render = (status: Status): string => {
  const { commands, ledger, now, state: { owner, source: { held }, startedAt } } = status
  return Page.render({
    title: titleOf(status),
    subject: html`<h1>${name}</h1>
<p class="soft" id="owner" data-live>${
      owner === undefined ? "Account not known yet" : html`Account <strong>${owner.id ?? "of this key"}</strong> at ${owner.baseUrl}`
    }</p>`,
    toolbar: {
      asOf: html`${ledger === undefined ? "Ledger not read yet" : html`Ledger read ${Sections.time(ledger.at, now)}`}`,
      refresh: Page.paths.page
    },
    main: html`${Sections.headline(status)}
${Sections.held(held, ledger, commands)}
<div class="columns">${Sections.waiting(ledger?.backlog, ledger && Sections.longestWait(ledger.backlog, now), now)}${
      Sections.overview(status)
    }</div>
${Sections.lastHour(status)}
${Sections.uncertain(ledger, commands, now)}
${Sections.quarantined(ledger, commands, now)}
${Sections.rowIssues(ledger, commands)}
${Sections.errors(status, now)}`,
    about: html`, started ${Sections.time(startedAt, now)}`
  })
}
