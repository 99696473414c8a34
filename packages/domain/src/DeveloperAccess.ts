/**
 * The state machines of an access request and of an account's developer access, as pure functions.
 *
 * Source: interface v1, "Rules for getting access" and "States and transitions". The document names the states but
 * not every transition. Comments mark the assumed transitions.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/**
 * The status of a request for developer access.
 *
 * @since 0.1.0
 * @category models
 */
export const RequestStatus = Schema.Literals(["pending", "approved", "declined"])
/** @since 0.1.0 @category models */
export type RequestStatus = typeof RequestStatus.Type

/**
 * The developer access of an account. `none` is the state before an approval.
 *
 * @since 0.1.0
 * @category models
 */
export const AccessState = Schema.Literals(["none", "granted", "suspended", "revoked"])
/** @since 0.1.0 @category models */
export type AccessState = typeof AccessState.Type

/**
 * The state machine has no such transition from the current state.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidTransition extends Schema.TaggedError<InvalidTransition>()("InvalidTransition", {
  from: Schema.String,
  transition: Schema.String
}) {
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
): Result.Result<RequestStatus, InvalidTransition> =>
  status === "pending"
    ? Result.succeed(transition === "approve" ? "approved" : "declined")
    : Result.fail(new InvalidTransition({ from: status, transition }))

/**
 * The transitions of an account's developer access.
 *
 * @since 0.1.0
 * @category models
 */
export const AccessTransition = Schema.Literals(["grant", "suspend", "revoke", "restore"])
/** @since 0.1.0 @category models */
export type AccessTransition = typeof AccessTransition.Type

const accessTransitions: { readonly [_ in AccessTransition]: Readonly<Partial<Record<AccessState, AccessState>>> } = {
  grant: { none: "granted" },
  suspend: { granted: "suspended" },
  // Assumed: a suspended access can be revoked, and a suspended or revoked one can be restored.
  revoke: { granted: "revoked", suspended: "revoked" },
  restore: { suspended: "granted", revoked: "granted" }
}

/**
 * Applies an operator's transition to the access of an account. Assumed: `restore`, and `revoke` of suspended access.
 * Source: interface v1, "States and transitions".
 *
 * @since 0.1.0
 * @category transitions
 */
export const transitionAccess = (state: AccessState, transition: AccessTransition): Result.Result<AccessState, InvalidTransition> => {
  const next = accessTransitions[transition][state]
  return next === undefined ? Result.fail(new InvalidTransition({ from: state, transition })) : Result.succeed(next)
}
