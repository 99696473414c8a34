/**
 * Developer access: requests for it, and the decisions and transitions of the operator.
 *
 * Source: interface v1, "Rules for getting access" and "States and transitions".
 *
 * @since 0.1.0
 */
import type { AccessTransition } from "@plaza-legacy/domain/DeveloperAccess"
import * as DeveloperAccess from "@plaza-legacy/domain/DeveloperAccess"
import { Conflict, type NotFound, type ValidationError } from "@plaza-legacy/domain/Errors"
import { Timestamp } from "@plaza-legacy/domain/Resources"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { checkText } from "../areas/Validation.ts"
import { type Assumptions, CurrentAssumptions } from "../Assumptions.ts"
import * as Envelope from "../http/Envelope.ts"
import { Sql } from "../storage/Sql.ts"
import { AccessRequestRow, AccessRequestsRepo } from "./AccessRequestsRepo.ts"
import { AccountsRepo } from "./AccountsRepo.ts"

/**
 * The form that the document describes.
 *
 * @since 0.1.0
 * @category models
 */
export const AccessForm = Schema.Struct({
  /** What the integration is for, in free text. */
  useCase: Schema.String,
  /** An `http` or `https` address. */
  website: Schema.optionalWith(Schema.String, { exact: true, nullable: true }),
  botName: Schema.String
}).annotations({ identifier: "AccessForm" })
/** @since 0.1.0 @category models */
export interface AccessForm extends Schema.Schema.Type<typeof AccessForm> {}

/** @since 0.1.0 @category models */
export const AccessRequest = Schema.Struct({
  ...AccessRequestRow.fields,
  createdAt: Timestamp,
  /** Null while it is pending. */
  decidedAt: Schema.NullOr(Timestamp)
}).annotations({ identifier: "AccessRequest" })
/** @since 0.1.0 @category models */
export interface AccessRequest extends Schema.Schema.Type<typeof AccessRequest> {}

/** @since 0.1.0 @category services */
export class AccessRequests extends Context.Tag("@plaza-legacy/sandbox/AccessRequests")<AccessRequests, {
  /**
   * Requests access. Assumed: an account has at most one pending request, requests access only while it has none, and may
   * request it again after a decline.
   */
  readonly submit: (
    accountId: string,
    form: AccessForm
  ) => Effect.Effect<AccessRequest, NotFound | Conflict | ValidationError>
  /**
   * Decides a pending request. An approval grants access, unless it is granted already. While access is suspended or
   * revoked, a request can only be declined.
   */
  readonly decide: (id: string, decision: "approve" | "decline") => Effect.Effect<AccessRequest, NotFound | Conflict>
  /** The requests of an account (default: of all accounts), newest first. */
  readonly list: (accountId?: string) => Effect.Effect<ReadonlyArray<AccessRequest>>
  /** Changes the access of an account, as an operator does. */
  readonly transition: (accountId: string, transition: AccessTransition) => Effect.Effect<void, NotFound | Conflict>
}>() {}

/** An invalid transition is a conflict. */
const orConflict = <A>(result: Either.Either<A, DeveloperAccess.InvalidTransition>): Either.Either<A, Conflict> =>
  Either.mapLeft(result, ({ message }) => new Conflict({ message }))

const isWebAddress = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)

/** Validates a form and trims its fields. */
const check = (
  form: AccessForm,
  { maxBotNameLength, maxUseCaseLength, maxWebsiteLength }: Assumptions
) =>
  Effect.gen(function*() {
    const useCase = form.useCase.trim()
    const botName = form.botName.trim()
    const website = form.website?.trim()
    yield* checkText("useCase", useCase, maxUseCaseLength)
    yield* checkText("botName", botName, maxBotNameLength)
    if (website !== undefined) {
      yield* checkText("website", website, maxWebsiteLength)
      if (!isWebAddress(website)) {
        return yield* Envelope.invalidField("website", "must start with http:// or https://")
      }
    }
    return { useCase, website: website ?? null, botName }
  })

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<AccessRequests["Type"], never, Sql | AccessRequestsRepo | AccountsRepo | CurrentAssumptions> = Effect.gen(
  function*() {
    const { withTransaction } = yield* Sql
    const repo = yield* AccessRequestsRepo
    const accounts = yield* AccountsRepo
    const assumed = yield* CurrentAssumptions

    const findAccount = (id: string) =>
      Effect.flatMap(accounts.find(id), Option.match({
        onNone: () => Effect.fail(Envelope.notFound("account", id)),
        onSome: Effect.succeed
      }))

    const transition = (accountId: string, wanted: AccessTransition) =>
      Effect.gen(function*() {
        const { access } = yield* findAccount(accountId)
        yield* accounts.setAccess(accountId, yield* orConflict(DeveloperAccess.transitionAccess(access, wanted)))
      }).pipe(withTransaction)

    return {
      submit: (accountId, form) =>
        Effect.gen(function*() {
          const input = yield* check(form, assumed)
          const account = yield* findAccount(accountId)
          if (account.access !== "none") {
            return yield* new Conflict({
              message: `developer access of this account is already ${account.access}`
            })
          }
          if ((yield* repo.ofAccount(accountId)).some(({ status }) => status === "pending")) {
            return yield* new Conflict({ message: "a request of this account is pending: wait for its decision" })
          }
          const seq = yield* repo.nextSeq()
          const request = {
            id: `access-${seq}`,
            accountId: account.id,
            ...input,
            status: "pending" as const,
            createdAt: yield* DateTime.now
          }
          yield* repo.insert({ seq, ...request })
          return { ...request, decidedAt: null }
        }).pipe(withTransaction),

      decide: (id, decision) =>
        Effect.gen(function*() {
          const found = yield* repo.find(id)
          if (Option.isNone(found)) {
            return yield* Envelope.unknown("access request", id)
          }
          const request = found.value
          const status = yield* orConflict(DeveloperAccess.decide(request.status, decision))
          // An operator may have granted access without the request.
          if (decision === "approve" && (yield* findAccount(request.accountId)).access !== "granted") {
            yield* transition(request.accountId, "grant")
          }
          const decidedAt = yield* DateTime.now
          yield* repo.setDecision(id, status, decidedAt)
          return { ...request, status, decidedAt }
        }).pipe(withTransaction),

      list: (accountId) => accountId === undefined ? repo.all() : repo.ofAccount(accountId),

      transition
    }
  }
)
