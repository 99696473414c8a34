/**
 * The filter of the console's list of requests.
 *
 * @since 0.1.0
 */
import type { RequestRecord } from "../http/RequestLog.ts"

/** @since 0.1.0 @category models */
export interface RequestFilter {
  /** A part of the request, its rule or its reason. */
  readonly text: string
  /** A value of {@link statuses}; empty for any. */
  readonly status: string
  readonly account: string
}

/**
 * The choices of a status.
 *
 * @since 0.1.0
 * @category constants
 */
export const statuses: ReadonlyArray<readonly [value: string, name: string]> = [
  ["", "any"],
  ["2", "2xx"],
  ["3", "3xx"],
  ["4", "4xx"],
  ["5", "5xx"],
  ["none", "no response"],
  ["fault", "hit by a fault"]
]

/** @since 0.1.0 @category reading */
export const read = (query: URLSearchParams): RequestFilter => ({
  text: (query.get("text") ?? "").trim(),
  status: query.get("status") ?? "",
  account: query.get("account") ?? ""
})

/**
 * The filter as a query with its question mark; empty without a filter.
 *
 * @since 0.1.0
 * @category formatting
 */
export const format = (filter: RequestFilter): string => {
  const query = new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== "")).toString()
  return query === "" ? "" : `?${query}`
}

const hasStatus = ({ deliveredStatus, faults }: RequestRecord, status: string): boolean =>
  status === "" || (status === "none"
    ? deliveredStatus === null
    : status === "fault"
    ? faults.length > 0
    : deliveredStatus !== null && String(deliveredStatus).startsWith(status))

/** @since 0.1.0 @category checks */
export const matches = ({ account, status, text }: RequestFilter): (record: RequestRecord) => boolean => {
  const wanted = text.toLowerCase()
  return (record) =>
    hasStatus(record, status) && (account === "" || record.accountId === account) &&
    (wanted === "" ||
      [`${record.method} ${record.path}?${record.query}`, record.id, record.operation, record.rule, record.reason, record.deliveredStatus]
        .some((part) => String(part ?? "").toLowerCase().includes(wanted)))
}
