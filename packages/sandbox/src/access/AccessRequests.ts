/**
 * Developer access: requests for it, and the decisions and transitions of the operator.
 *
 * Source: interface v1, "Rules for getting access" and "States and transitions".
 */
import type { AccessTransition } from "@plaza/domain/DeveloperAccess"
import * as DeveloperAccess from "@plaza/domain/DeveloperAccess"
import { Conflict, type NotFound } from "@plaza/domain/Errors"
import { Timestamp } from "@plaza/domain/Resources"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { CurrentAssumptions } from "../Assumptions.ts"
import { Db } from "../storage/Db.ts"
import { checkText, invalidField, unknown } from "../Validation.ts"
import { AccessRequestRow, AccessRequestsRepo } from "./AccessRequestsRepo.ts"
import type { Account } from "./AccountsRepo.ts"
import { AccountsRepo } from "./AccountsRepo.ts"

/** The form that the document describes. */
export const AccessForm = Schema.Struct({
  /** What the integration is for, in free text. */
  useCase: Schema.String,
  /** An `http` or `https` address. */
  website: Schema.optionalKey(Schema.NullOr(Schema.String)),
  botName: Schema.String
}).annotate({ identifier: "AccessForm" })
export interface AccessForm extends Schema.Struct.Type<typeof AccessForm.fields> {}

export const AccessRequest = Schema.Struct({
  ...AccessRequestRow.fields,
  createdAt: Timestamp,
  /** Null while it is pending. */
  decidedAt: Schema.NullOr(Timestamp)
}).annotate({ identifier: "AccessRequest" })
export interface AccessRequest extends Schema.Struct.Type<typeof AccessRequest.fields> {}

/** An invalid transition is a conflict. */
const orConflict = <A>(result: Result.Result<A, DeveloperAccess.InvalidTransition>): Effect.Effect<A, Conflict> =>
  Effect.fromResult(Result.mapError(result, ({ message }) => new Conflict({ message })))

const isWebAddress = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)

export class AccessRequests extends Context.Service<AccessRequests>()("@plaza/sandbox/AccessRequests", {
  make: Effect.gen(function*() {
    const { transaction } = yield* Db
    const repo = yield* AccessRequestsRepo
    const accounts = yield* AccountsRepo
    const { maxBotNameLength, maxUseCaseLength, maxWebsiteLength } = yield* CurrentAssumptions

    /** Validates a form and trims its fields. */
    const check = Effect.fnUntraced(function*(form: AccessForm) {
      const useCase = form.useCase.trim()
      const botName = form.botName.trim()
      const website = form.website?.trim()
      yield* checkText("useCase", useCase, maxUseCaseLength)
      yield* checkText("botName", botName, maxBotNameLength)
      if (website !== undefined) {
        yield* checkText("website", website, maxWebsiteLength)
        if (!isWebAddress(website)) {
          return yield* invalidField("website", "must start with http:// or https://")
        }
      }
      return { useCase, website: website ?? null, botName }
    })

    const getAccount = (id: string): Effect.Effect<Account, NotFound> => {
      const account = accounts.find(id)
      return account === undefined ? Effect.fail(unknown("account", id)) : Effect.succeed(account)
    }

    const transition = Effect.fnUntraced(function*(accountId: string, wanted: AccessTransition) {
      const { access } = yield* getAccount(accountId)
      accounts.setAccess(accountId, yield* orConflict(DeveloperAccess.transitionAccess(access, wanted)))
    }, transaction)

    return {
      /**
       * Requests access. Assumed: an account has at most one pending request, requests access only while it has none, and may
       * request it again after a decline.
       */
      submit: Effect.fnUntraced(function*(accountId: string, form: AccessForm) {
        const input = yield* check(form)
        const account = yield* getAccount(accountId)
        if (account.access !== "none") {
          return yield* new Conflict({ message: `developer access of this account is already ${account.access}` })
        }
        if (repo.ofAccount(accountId).some(({ status }) => status === "pending")) {
          return yield* new Conflict({ message: "a request of this account is pending: wait for its decision" })
        }
        const seq = repo.nextSeq()
        const request = {
          id: `access-${seq}`,
          accountId: account.id,
          ...input,
          status: "pending" as const,
          createdAt: yield* DateTime.now
        }
        repo.insert({ seq, ...request })
        return { ...request, decidedAt: null }
      }, transaction),

      /**
       * Decides a pending request. An approval grants access, unless it is granted already. While access is suspended or
       * revoked, a request can only be declined.
       */
      decide: Effect.fnUntraced(function*(id: string, decision: "approve" | "decline") {
        const request = repo.find(id)
        if (request === undefined) {
          return yield* unknown("access request", id)
        }
        const status = yield* orConflict(DeveloperAccess.decide(request.status, decision))
        // An operator may have granted access without the request.
        if (decision === "approve" && (yield* getAccount(request.accountId)).access !== "granted") {
          yield* transition(request.accountId, "grant")
        }
        const decidedAt = yield* DateTime.now
        repo.setDecision(id, status, decidedAt)
        return { ...request, status, decidedAt }
      }, transaction),

      /** The requests of an account (default: of all accounts), newest first. */
      list: (accountId?: string): ReadonlyArray<AccessRequest> => accountId === undefined ? repo.all() : repo.ofAccount(accountId),

      /** Changes the access of an account, as an operator does. */
      transition
    }
  })
}) {
  static readonly layer = Layer.effect(AccessRequests, AccessRequests.make)
}
