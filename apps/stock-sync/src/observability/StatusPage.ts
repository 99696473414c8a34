/** The status page: the state of the worker, waiting and refused products, and actions for an operator. */
import { ofStore } from "../ledger/LedgerCommands.ts"
import { html } from "./Html.ts"
import * as Page from "./Page.ts"
import type { Status } from "./Status.ts"
import * as Sections from "./StatusSections.ts"

export const render = (status: Status): string => {
  const { ledger, now, reasons, state: { owner, source: { held }, startedAt } } = status
  const commands = ofStore()
  return Page.render({
    title: `${reasons.length > 0 ? "Not ready: " : ""}plaza-stock-sync`,
    subject: html`<h1>plaza-stock-sync</h1>
<p class="soft" id="owner" data-live>${
      owner === undefined ? "Account not known yet" : html`Account <strong>${owner.id ?? "of this key"}</strong> at ${owner.baseUrl}`
    }</p>`,
    toolbar: {
      asOf: html`As of ${Sections.time(now)}${ledger !== undefined && html`, ledger as of ${Sections.time(ledger.at)}`}`,
      refresh: Page.paths.page
    },
    main: html`${Sections.status(status)}
${Sections.held(held, ledger, commands)}
<div class="columns">${Sections.waiting(ledger?.backlog, ledger && Sections.longestWait(ledger.backlog), now)}${
      Sections.overview(status)
    }</div>
${Sections.lastHour(status)}
${Sections.uncertain(ledger, commands)}
${Sections.quarantined(ledger, commands)}
${Sections.rowIssues(ledger, commands)}
${Sections.errors(status)}`,
    about: html`, started ${Sections.time(startedAt)}`
  })
}
