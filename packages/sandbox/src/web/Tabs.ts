/** Tabs without a script: radio buttons that show their panels. The arrow keys move between them. */
import type { Html, Piece } from "./Html.ts"
import { html } from "./Html.ts"

export interface Tab {
  /** A part of ids. */
  readonly id: string
  readonly name: string
  readonly content: Piece
}

/** The first tab is selected. `id`: the prefix of the tabs' ids. `label`: the accessible name. */
export const view = (id: string, label: string, tabs: ReadonlyArray<Tab>): Html =>
  html`<fieldset class="switch"><legend class="unseen">${label}</legend>${
    tabs.map((tab, index) =>
      html`<input type="radio" name="${id}" id="${id}-${tab.id}"${
        index === 0 && html` checked`
      }><label for="${id}-${tab.id}">${tab.name}</label>`
    )
  }${tabs.map(({ content }) => html`<div>${content}</div>`)}</fieldset>`
