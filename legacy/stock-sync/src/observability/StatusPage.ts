/** The status page: the state of the worker, waiting and refused products, and actions for an operator. */
import { ofStore } from "../ledger/LedgerCommands.ts"
import { html } from "./Html.ts"
import * as Page from "./Page.ts"
import type { StatusSnapshot } from "./StatusSampler.ts"
import * as Sections from "./StatusSections.ts"

export const render = (snapshot: StatusSnapshot, options: Sections.RateOptions): string => {
  const { ledger, now, reasons, state: { owner, source: { held }, startedAt } } = snapshot
  return Page.render({
    title: `${reasons.length > 0 ? "Not ready: " : ""}plaza-stock-sync`,
    subject: html`<h1>plaza-stock-sync</h1>
<p class="soft" id="owner" data-live>${
      owner === undefined ? "Account not known yet" : html`Account <strong>${owner.id ?? "of this key"}</strong> at ${owner.baseUrl}`
    }</p>`,
    toolbar: {
      asOf: html`As of ${Sections.time(now)}${
        ledger !== undefined && ledger.at !== now && html`, ledger as of ${Sections.time(ledger.at)}`
      }`,
      refresh: Page.paths.page
    },
    main: html`${Sections.status(snapshot)}
${Sections.held(held, ledger, ofStore())}
<div class="columns">${Sections.waiting(ledger?.backlog, ledger && Sections.longestWait(ledger.backlog), now)}${
      Sections.overview(snapshot, options)
    }</div>
${Sections.lastHour(snapshot)}
${Sections.uncertain(ledger, ofStore())}
${Sections.quarantined(ledger, ofStore())}
${Sections.rowIssues(ledger, ofStore())}
${Sections.errors(snapshot)}`,
    about: html`, started ${Sections.time(startedAt)}`
  })
}
