/**
 * The request for access and the access itself, as state machines. Pure; knows nothing of who may decide.
 *
 * Source: interface v1, "Rules for getting access" and "States and transitions". The document names the states but
 * not every move; a move that it doesn't give is marked as assumed.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"

/** @since 0.1.0 @category models */
export const RequestStatus = Schema.Literal("pending", "approved", "declined")
/** @since 0.1.0 @category models */
export type RequestStatus = typeof RequestStatus.Type

/** @since 0.1.0 @category models */
export const AccessState = Schema.Literal("none", "granted", "suspended", "revoked")
/**
 * What the account may do. `none` is the state before an approval.
 *
 * @since 0.1.0
 * @category models
 */
export type AccessState = typeof AccessState.Type

/**
 * The move isn't possible from the state things are in.
 *
 * @since 0.1.0
 * @category errors
 */
export class IllegalMove extends Data.TaggedError("IllegalMove")<{
  readonly from: string
  readonly move: string
}> {
  override get message(): string {
    return `"${this.move}" is not possible while the state is "${this.from}"`
  }
}

/**
 * A person approves or declines a request, once. Assumed: a decision is final.
 *
 * @since 0.1.0
 * @category transitions
 */
export const decide = (
  status: RequestStatus,
  move: "approve" | "decline"
): Either.Either<RequestStatus, IllegalMove> =>
  status === "pending"
    ? Either.right(move === "approve" ? "approved" : "declined")
    : Either.left(new IllegalMove({ from: status, move }))

const accessMoves: Readonly<Record<string, Readonly<Partial<Record<AccessState, AccessState>>>>> = {
  grant: { none: "granted" },
  suspend: { granted: "suspended" },
  // Assumed: a suspended access can be revoked as well, and given back.
  revoke: { granted: "revoked", suspended: "revoked" },
  restore: { suspended: "granted", revoked: "granted" }
}

/** @since 0.1.0 @category models */
export const AccessMove = Schema.Literal("grant", "suspend", "revoke", "restore")
/** @since 0.1.0 @category models */
export type AccessMove = typeof AccessMove.Type

/**
 * The operator's moves on an account's access. `restore` is assumed; the others are the document's.
 *
 * @since 0.1.0
 * @category transitions
 */
export const moveAccess = (state: AccessState, move: AccessMove): Either.Either<AccessState, IllegalMove> => {
  const next = accessMoves[move]?.[state]
  return next === undefined ? Either.left(new IllegalMove({ from: state, move })) : Either.right(next)
}
