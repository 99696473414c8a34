/**
 * The page Settings, Developers: requests access, and creates and revokes keys once access is granted. It acts for the account
 * that the visitor has chosen.
 *
 * Source: interface v1, "Rules for getting access" and "Authentication".
 */
import type { DocumentedError } from "@plaza/domain/Errors"
import * as Effect from "effect/Effect"
import type { HttpServerResponse } from "effect/http/HttpServerResponse"
import { randomUUID } from "node:crypto"
import { AccessRequests } from "../access/AccessRequests.ts"
import type { Account } from "../access/AccountsRepo.ts"
import { AccountsRepo } from "../access/AccountsRepo.ts"
import type { CreatedKey } from "../access/Keys.ts"
import { Keys } from "../access/Keys.ts"
import { type Assumptions, CurrentAssumptions } from "../Assumptions.ts"
import { basePath, operations } from "../InterfaceApi.ts"
import { invalidField, notFound } from "../Validation.ts"
import type { FormResult, ScopeUse } from "./DevelopersView.ts"
import * as View from "./DevelopersView.ts"
import * as Layout from "./Layout.ts"

/** The calls that each scope allows. */
export const scopeUses = ({ scopes, undocumented }: Assumptions): ReadonlyArray<ScopeUse> =>
  [...new Set(Object.values(scopes).filter((scope) => scope !== undefined))].map((scope) => ({
    scope,
    calls: [...operations.values()].flatMap(({ isAssumed, method, name, path }) =>
      scopes[name] === scope && (undocumented || !isAssumed) ? [`${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`] : []
    )
  }))

/** The trimmed value of an input, with LF line breaks. */
const text = (form: URLSearchParams, name: string): string => (form.get(name) ?? "").replaceAll("\r\n", "\n").trim()

/** Maximum number of new keys whose value no page has shown yet. */
const maxUnseen = 20

export const routes = Effect.gen(function*() {
  const accounts = yield* AccountsRepo
  const requests = yield* AccessRequests
  const keys = yield* Keys
  const assumed = yield* CurrentAssumptions

  const show = (account: Account, { origin }: Layout.PageRequest, result: FormResult) =>
    Effect.sync(() =>
      View.page({
        account,
        requests: requests.list(account.id),
        keys: keys.list(account.id),
        scopes: scopeUses(assumed),
        assumed,
        baseUrl: `${origin}${basePath}`
      }, result)
    )

  /** Handles a request for the visitor's account. Redirects to the sign-in page if there is none, or if a reset removed it. */
  const signedIn =
    (f: (account: Account, request: Layout.PageRequest) => Effect.Effect<HttpServerResponse, DocumentedError>): Layout.Route["handle"] =>
    (request) =>
      Effect.suspend(() => {
        const account = request.accountId === undefined ? undefined : accounts.find(request.accountId)
        return account === undefined ? Effect.succeed(Layout.seeOther(Layout.paths.signIn)) : f(account, request)
      })

  const request = signedIn((account, pageRequest) => {
    const { form } = pageRequest
    const website = text(form, "website")
    return requests.submit(account.id, {
      useCase: text(form, "useCase"),
      botName: text(form, "botName"),
      ...(website === "" ? {} : { website })
    }).pipe(
      Effect.as(Layout.seeOther(Layout.paths.developers, "requested")),
      Effect.catch((error) => show(account, pageRequest, { request: { values: form, error } }))
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

  const create = signedIn((account, pageRequest) =>
    Effect.gen(function*() {
      const { form } = pageRequest
      const chosen = form.has("all") ? scopeUses(assumed).map(({ scope }) => scope) : form.getAll("scopes")
      if (chosen.length === 0) {
        return yield* invalidField("scopes", "are missing: select at least one")
      }
      const key = yield* keys.create(account.id, { name: text(form, "name"), scopes: chosen })
      return Layout.seeOther(`${Layout.paths.developers}?new=${remember(account.id, key)}`, "created")
    }).pipe(Effect.catch((error) => show(account, pageRequest, { key: { values: pageRequest.form, error } })))
  )

  const revoke = signedIn((account, { form }) =>
    Effect.gen(function*() {
      const id = form.get("key") ?? ""
      if (!keys.list(account.id).some((key) => key.id === id)) {
        return yield* notFound("key", id)
      }
      yield* keys.revoke(id)
      return Layout.seeOther(Layout.paths.developers, "revoked")
    })
  )

  return [
    {
      method: "GET",
      path: Layout.paths.developers,
      handle: signedIn((account, pageRequest) =>
        Effect.suspend(() => {
          const key = takeCreated(account.id, pageRequest.query.get("new") ?? "")
          return show(account, pageRequest, {
            message: Layout.done(pageRequest, View.sentences),
            ...(key === undefined ? {} : { created: key })
          })
        })
      )
    },
    {
      method: "POST",
      path: Layout.paths.developers,
      handle: Layout.byAction({ request, create, revoke: Layout.confirmed(Layout.paths.developers, View.revoking, revoke) })
    }
  ] satisfies ReadonlyArray<Layout.Route>
})
