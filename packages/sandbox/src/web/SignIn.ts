/** The sign-in page: selects the account that the visitor acts for, without a password. */
import * as Effect from "effect/Effect"
import type { Account } from "../access/AccountsRepo.ts"
import { AccountsRepo } from "../access/AccountsRepo.ts"
import * as Envelope from "../http/Envelope.ts"
import { shopId } from "../seeding/SeedData.ts"
import { Seeding } from "../seeding/Seeding.ts"
import { invalidField } from "../Validation.ts"
import * as Form from "./Form.ts"
import type { Html } from "./Html.ts"
import { html } from "./Html.ts"
import * as Layout from "./Layout.ts"

const cookie = "plaza_account"

/** The maximum number of accounts on a page. */
export const shown = 100

/** Reads the chosen account from the cookie header. */
export const accountFromCookie = (header: string | undefined): string | undefined => {
  const part = (header ?? "").split(";").map((part) => part.trim()).find((part) => part.startsWith(`${cookie}=`))
  try {
    return part === undefined ? undefined : decodeURIComponent(part.slice(cookie.length + 1))
  } catch {
    return undefined
  }
}

/** Sets the cookie and redirects. Requests from other sites don't carry the cookie, and scripts can't read it. */
const chooseAccount = (accountId: string) =>
  Envelope.withHeader(
    Layout.seeOther(Layout.paths.developers),
    "set-cookie",
    `${cookie}=${encodeURIComponent(accountId)}; Path=/; HttpOnly; SameSite=Strict`
  )

/** Deletes the cookie. */
const signOut = Envelope.withHeader(
  Layout.seeOther(Layout.paths.signIn),
  "set-cookie",
  `${cookie}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`
)

/** The button that forgets the chosen account. */
export const signOutButton: Html = Form.button({ action: Layout.paths.signIn, values: { do: "out" }, text: "Sign out", kind: "quiet" })

const existing: Form.Field = {
  name: "known",
  label: "Username",
  hint: "An account of this sandbox.",
  required: true,
  list: "accounts"
}
const created: Form.Field = { name: "username", label: "New username", required: true, max: 100 }

/** Signs in as the seeded shop, unless the data has none. */
const asShop = (shop: Account | undefined): Html | false =>
  shop !== undefined && html`<p>The seeded shop has developer access and the key of the home page.</p>
${Form.button({ action: Layout.paths.signIn, values: { do: "choose", known: shop.username }, text: `Sign in as ${shop.username}` })}
<h3>Another account</h3>`

const view = (accounts: ReadonlyArray<Account>, shop: Account | undefined, submission: Form.Submission) =>
  Layout.page({
    path: Layout.paths.signIn,
    title: "Sign in",
    status: submission.error?.status ?? 200,
    lead: "The sandbox has no passwords: every visitor can act for any account. A cookie of this browser keeps your choice.",
    message: Form.errorMessage(submission, [existing, created]),
    body: html`<div class="columns"><section aria-labelledby="as-existing">
<h2 id="as-existing">Existing account</h2>
${asShop(shop)}
<form method="post" action="${Layout.paths.signIn}">
<input type="hidden" name="do" value="choose">
${Form.field(submission, existing)}
<datalist id="accounts">${accounts.map(({ name, username }) => html`<option value="${username}">${name}</option>`)}</datalist>
<button type="submit"${shop !== undefined && html` class="quiet"`}>Sign in</button>
</form>
</section>
<section aria-labelledby="as-new">
<h2 id="as-new">New account</h2>
<p>A new account has no developer access. You can request it after you sign in.</p>
<form method="post" action="${Layout.paths.signIn}">
<input type="hidden" name="do" value="create">
${Form.field(submission, created)}
<fieldset><legend>Profile</legend>
<p class="soft">Writes require both.</p>
${Form.checkbox("profile", "photo", "Photo", submission.values.get("do") !== "create" || submission.values.has("profile", "photo"))}
${Form.checkbox("profile", "cover", "Cover", submission.values.get("do") !== "create" || submission.values.has("profile", "cover"))}
</fieldset>
<button type="submit">Create and sign in</button>
</form>
</section></div>`
  })

export const routes = Effect.gen(function*() {
  const accounts = yield* AccountsRepo
  const { operations } = yield* Seeding
  const show = (submission: Form.Submission) => Effect.sync(() => view(accounts.findByPrefix("", shown), accounts.find(shopId), submission))
  return [
    { method: "GET", path: Layout.paths.signIn, handle: () => show(Form.empty) },
    {
      method: "POST",
      path: Layout.paths.signIn,
      handle: Layout.byAction({
        out: () => Effect.succeed(signOut),
        choose: ({ form }) =>
          Effect.suspend(() => {
            const account = accounts.findByUsername((form.get(existing.name) ?? "").trim())
            return account === undefined
              ? show({ values: form, error: invalidField(existing.name, "does not exist") })
              : Effect.succeed(chooseAccount(account.id))
          }),
        create: ({ form }) =>
          operations.createAccount({
            username: (form.get(created.name) ?? "").trim(),
            photo: form.has("profile", "photo"),
            cover: form.has("profile", "cover"),
            access: "none"
          }).pipe(
            Effect.map(({ id }) => chooseAccount(id)),
            Effect.catch((error) => show({ values: form, error }))
          )
      })
    }
  ] satisfies ReadonlyArray<Layout.Route>
})
