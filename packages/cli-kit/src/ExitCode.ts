/** The exit codes of the programs: one table for the errors of the service and of the client. */
import { ClientError } from "@plaza/client"
import type { ServiceError } from "@plaza/domain/Errors"

/**
 * The exit code of a failure, by which scripts distinguish failures: 2 input, 3 not found, 4 key, scope, access, profile or
 * permission, 5 conflict, 6 rate limit beyond the maximum wait, 7 service or network, 8 outcome unknown, 1 anything else. Success is
 * 0, and an interrupted program ends with 130.
 */
export type ExitCode = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8

type Failure = ClientError.Failure | ClientError.InvalidSettings

const table: Readonly<Record<ServiceError["category"] | Exclude<Failure, ServiceError>["_tag"], ExitCode>> = {
  InvalidRequest: 2,
  Unauthenticated: 4,
  Forbidden: 4,
  NotFound: 3,
  Conflict: 5,
  TooLarge: 2,
  RateLimited: 6,
  ServiceFault: 7,
  InvalidInput: 2,
  InvalidSettings: 2,
  ConnectionFailed: 7,
  ConnectionLost: 7,
  AttemptTimeout: 7,
  UnreadableItem: 7,
  RateLimitWaitExceeded: 6,
  // The write happened, but a script that took this for a network fault would repeat it.
  UnreadableSuccess: 8,
  OutcomeUnknown: 8,
  ClientClosed: 1,
  CursorRepeated: 1,
  CursorRejected: 1
}

export const of = (failure: Failure): ExitCode => table[ClientError.isServiceError(failure) ? failure.category : failure._tag]
