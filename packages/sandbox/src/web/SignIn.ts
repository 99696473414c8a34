/**
 * Whom the visitor acts for. A sandbox has no passwords, so this is a choice and no proof, and the page says so.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Account } from "../access/Accounts.js"
import { Accounts } from "../access/Accounts.js"
import * as Envelope from "../http/Envelope.js"
import { Setup } from "../seeding/Seeding.js"
import * as Form from "./Form.js"
import { html } from "./Html.js"
import * as Lookup from "./Lookup.js"
import * as Page from "./Page.js"

const cookie = "plaza_account"

/**
 * The account that a browser was told to remember.
 *
 * @since 0.1.0
 * @category cookie
 */
export const remembered = (header: string | undefined): Option.Option<string> =>
  Option.flatMap(
    Option.fromNullable((header ?? "").split(";").map((part) => part.trim()).find((part) => part.startsWith(`${cookie}=`))),
    (part) => Option.liftThrowable(decodeURIComponent)(part.slice(cookie.length + 1))
  )

/** Not sent along by any other site's page, nor shown to scripts. */
const remember = (accountId: string) =>
  Envelope.withHeader(
    Page.seeOther(Page.paths.developers),
    "set-cookie",
    `${cookie}=${encodeURIComponent(accountId)}; Path=/; HttpOnly; SameSite=Strict`
  )

const existing: Form.Field = {
  name: "known",
  label: "Username",
  hint: "One of the accounts that the sandbox holds.",
  required: true,
  list: "accounts"
}
const created: Form.Field = { name: "username", label: "New username", required: true, max: 100 }

const view = (accounts: ReadonlyArray<Account>, sent: Form.Sent) =>
  Page.page({
    path: Page.paths.signIn,
    title: "Sign in",
    status: sent.error?.status ?? 200,
    lead: "The sandbox has no passwords: whoever can open this page may act for any account. Your choice is kept in a cookie of this browser.",
    message: Form.refusal(sent, [existing, created]),
    body: html`<section aria-labelledby="as-existing">
<h2 id="as-existing">As an account that exists</h2>
<form method="post" action="${Page.paths.signIn}">
<input type="hidden" name="do" value="choose">
${Form.field(sent, existing)}
<datalist id="accounts">${accounts.map(({ name, username }) => html`<option value="${username}">${name}</option>`)}</datalist>
<button type="submit">Sign in</button>
</form>
</section>
<section aria-labelledby="as-new">
<h2 id="as-new">As a new account</h2>
<p>It begins without developer access, so that you can ask for it.</p>
<form method="post" action="${Page.paths.signIn}">
<input type="hidden" name="do" value="create">
${Form.field(sent, created)}
<fieldset><legend>Profile</legend>
<p class="soft">Without both, every write of its keys is refused.</p>
${Form.checkbox("profile", "photo", "has a photo", sent.values.get("do") !== "create" || sent.values.has("profile", "photo"))}
${Form.checkbox("profile", "cover", "has a cover", sent.values.get("do") !== "create" || sent.values.has("profile", "cover"))}
</fieldset>
<button type="submit">Create and sign in</button>
</form>
</section>`
  })

/** @since 0.1.0 @category pages */
export const routes = Effect.gen(function*() {
  const accounts = yield* Accounts
  const { calls } = yield* Setup
  const lookup = yield* Lookup.make
  const show = (sent: Form.Sent) => Effect.map(lookup.accounts(""), (found) => view(found, sent))
  return [
    { method: "GET", path: Page.paths.signIn, handle: () => show(Form.nothing) },
    {
      method: "POST",
      path: Page.paths.signIn,
      handle: Page.byAction({
        choose: ({ form }) =>
          Effect.flatMap(accounts.findByUsername((form.get(existing.name) ?? "").trim()), Option.match({
            onNone: () => show({ values: form, error: Envelope.invalidField(existing.name, "is nobody's here") }),
            onSome: ({ id }) => Effect.succeed(remember(id))
          })),
        create: ({ form }) =>
          calls.createAccount({
            username: (form.get(created.name) ?? "").trim(),
            photo: form.has("profile", "photo"),
            cover: form.has("profile", "cover"),
            access: "none"
          }).pipe(
            Effect.map(({ id }) => remember(id)),
            Effect.catchAll((error) => show({ values: form, error }))
          )
      })
    }
  ] satisfies ReadonlyArray<Page.Route>
})
