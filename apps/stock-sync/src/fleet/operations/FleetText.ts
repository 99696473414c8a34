/** Ids and messages of accounts for people. An id is arbitrary text: it may contain markup and characters that reverse the writing direction. */
import * as Text from "@plaza/cli-kit/Text"
import { type Html, html } from "../../observability/Html.ts"

/** A text of somebody else within a sentence of ours. */
export const isolated = (text: string): Html => html`<bdi>${Text.visible(text)}</bdi>`

/** The page of an account. Addresses with the segment `.` or `..` have another meaning, so those ids are a parameter. */
export const accountPath = (id: string): string => {
  const encoded = encodeURIComponent(id)
  return id === "." || id === ".." ? `/accounts/?id=${encoded}` : `/accounts/${encoded}`
}

export const accountLink = (id: string): Html => html`<a href="${accountPath(id)}">${isolated(id)}</a>`
