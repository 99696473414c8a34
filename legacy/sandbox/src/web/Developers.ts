/**
 * The page Settings, Developers: requests access, and creates and revokes keys once access is granted. It acts for the account
 * that the visitor has chosen.
 *
 * Source: interface v1, "Rules for getting access" and "Authentication".
 *
 * @since 0.1.0
 */
import type { HttpServerResponse } from "@effect/platform/HttpServerResponse"
import type { DocumentedError } from "@plaza-legacy/domain/Errors"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { randomUUID } from "node:crypto"
import { AccessRequests } from "../access/AccessRequests.ts"
import type { Account } from "../access/AccountsRepo.ts"
import { AccountsRepo } from "../access/AccountsRepo.ts"
import type { CreatedKey } from "../access/Keys.ts"
import { Keys } from "../access/Keys.ts"
import { CurrentAssumptions } from "../Assumptions.ts"
import * as Envelope from "../http/Envelope.ts"
import type { FormResult } from "./DevelopersView.ts"
import * as View from "./DevelopersView.ts"
import * as Page from "./Page.ts"
import { scopeUses } from "./ScopeUse.ts"

/** The trimmed value of an input, with LF line breaks. */
const text = (form: URLSearchParams, name: string): string => (form.get(name) ?? "").replaceAll("\r\n", "\n").trim()

/** Maximum number of new keys whose value no page has shown yet. */
const maxUnseen = 20

/** @since 0.1.0 @category pages */
export const routes = Effect.gen(function*() {
  const accounts = yield* AccountsRepo
  const requests = yield* AccessRequests
  const keys = yield* Keys
  const assumed = yield* CurrentAssumptions

  const show = (account: Account, result: FormResult) =>
    Effect.map(
      Effect.all([requests.list(account.id), keys.list(account.id)]),
      ([submitted, held]) => View.page({ account, requests: submitted, keys: held, scopes: scopeUses(assumed), assumed }, result)
    )

  /** Handles a request for the visitor's account. Redirects to the sign-in page if there is none, or if a reset removed it. */
  const signedIn =
    (f: (account: Account, request: Page.PageRequest) => Effect.Effect<HttpServerResponse, DocumentedError>): Page.Route["handle"] =>
    (request) =>
      Effect.flatMap(
        Option.match(request.accountId, { onNone: () => Effect.succeedNone, onSome: accounts.find }),
        Option.match({
          onNone: () => Effect.succeed(Page.seeOther(Page.paths.signIn)),
          onSome: (account) => f(account, request)
        })
      )

  const request = signedIn((account, { form }) => {
    const website = text(form, "website")
    return requests.submit(account.id, {
      useCase: text(form, "useCase"),
      botName: text(form, "botName"),
      ...(website === "" ? {} : { website })
    }).pipe(
      Effect.as(Page.seeOther(Page.paths.developers, "requested")),
      Effect.catchAll((error) => show(account, { request: { values: form, error } }))
    )
  })

  /** The values of new keys until the page after the form shows them, by a token that only its URL has. */
  const created = new Map<string, { readonly accountId: string; readonly key: CreatedKey }>()

  const remember = (accountId: string, key: CreatedKey): string => {
    const token = randomUUID()
    created.set(token, { accountId, key })
    for (const oldest of [...created.keys()].slice(0, -maxUnseen)) {
      created.delete(oldest)
    }
    return token
  }

  /** Returns a new key once. */
  const takeCreated = (accountId: string, token: string): CreatedKey | undefined => {
    const found = created.get(token)
    if (found?.accountId !== accountId) {
      return undefined
    }
    created.delete(token)
    return found.key
  }

  const create = signedIn((account, { form }) =>
    Effect.gen(function*() {
      const chosen = form.has("all") ? scopeUses(assumed).map(({ scope }) => scope) : form.getAll("scopes")
      if (chosen.length === 0) {
        return yield* Envelope.invalidField("scopes", "are missing: select at least one")
      }
      const key = yield* keys.create(account.id, { name: text(form, "name"), scopes: chosen })
      return Page.seeOther(`${Page.paths.developers}?new=${remember(account.id, key)}`, "created")
    }).pipe(Effect.catchAll((error) => show(account, { key: { values: form, error } })))
  )

  const revoke = signedIn((account, { form }) =>
    Effect.gen(function*() {
      const id = form.get("key") ?? ""
      const held = yield* keys.list(account.id)
      if (!held.some((key) => key.id === id)) {
        return yield* Envelope.notFound("key", id)
      }
      yield* keys.revoke(id)
      return Page.seeOther(Page.paths.developers, "revoked")
    })
  )

  return [
    {
      method: "GET",
      path: Page.paths.developers,
      handle: signedIn((account, pageRequest) =>
        Effect.suspend(() => {
          const key = takeCreated(account.id, pageRequest.query.get("new") ?? "")
          return show(account, { message: Page.done(pageRequest, View.sentences), ...(key === undefined ? {} : { created: key }) })
        })
      )
    },
    {
      method: "POST",
      path: Page.paths.developers,
      handle: Page.byAction({ request, create, revoke: Page.confirmed(Page.paths.developers, View.revoking, revoke) })
    }
  ] satisfies ReadonlyArray<Page.Route>
})
