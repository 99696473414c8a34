/**
 * The state machines of an access request and of an account's developer access, as pure functions.
 *
 * Source: interface v1, "Rules for getting access" and "States and transitions". The document names the states but
 * not every transition. Comments mark the assumed transitions.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"

/**
 * The status of a request for developer access.
 *
 * @since 0.1.0
 * @category models
 */
export const RequestStatus = Schema.Literal("pending", "approved", "declined")
/** @since 0.1.0 @category models */
export type RequestStatus = typeof RequestStatus.Type

/**
 * The developer access of an account. `none` is the state before an approval.
 *
 * @since 0.1.0
 * @category models
 */
export const AccessState = Schema.Literal("none", "granted", "suspended", "revoked")
/** @since 0.1.0 @category models */
export type AccessState = typeof AccessState.Type

/**
 * The state machine has no such transition from the current state.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidTransition extends Data.TaggedError("InvalidTransition")<{
  readonly from: string
  readonly transition: string
}> {
  override get message(): string {
    return `"${this.transition}" is not possible while the state is "${this.from}"`
  }
}

/**
 * Approves or declines a pending request. Assumed: a decision is final.
 * Source: interface v1, "Rules for getting access".
 *
 * @since 0.1.0
 * @category transitions
 */
export const decide = (
  status: RequestStatus,
  transition: "approve" | "decline"
): Either.Either<RequestStatus, InvalidTransition> =>
  status === "pending"
    ? Either.right(transition === "approve" ? "approved" : "declined")
    : Either.left(new InvalidTransition({ from: status, transition }))

const accessTransitions: Readonly<Record<string, Readonly<Partial<Record<AccessState, AccessState>>>>> = {
  grant: { none: "granted" },
  suspend: { granted: "suspended" },
  // Assumed: a suspended access can be revoked, and a suspended or revoked one can be restored.
  revoke: { granted: "revoked", suspended: "revoked" },
  restore: { suspended: "granted", revoked: "granted" }
}

/**
 * The transitions of an account's developer access.
 *
 * @since 0.1.0
 * @category models
 */
export const AccessTransition = Schema.Literal("grant", "suspend", "revoke", "restore")
/** @since 0.1.0 @category models */
export type AccessTransition = typeof AccessTransition.Type

/**
 * Applies an operator's transition to the access of an account. Assumed: `restore`, and `revoke` of suspended access.
 * Source: interface v1, "States and transitions".
 *
 * @since 0.1.0
 * @category transitions
 */
export const transitionAccess = (state: AccessState, transition: AccessTransition): Either.Either<AccessState, InvalidTransition> => {
  const next = accessTransitions[transition]?.[state]
  return next === undefined ? Either.left(new InvalidTransition({ from: state, transition })) : Either.right(next)
}
