/**
 * The name under which a ledger remembers its account.
 *
 * @since 0.1.0
 */
import type { Profile } from "@plaza/domain/Resources"

/**
 * The profile's id, or its username where the service shows no id. The document doesn't show that GET /me always has either;
 * without both, the ledger tells stores apart by their base address alone.
 * Source: interface v1, "Endpoints", GET /me and gaps.
 *
 * @since 0.1.0
 * @category models
 */
export const accountOf = ({ id, username }: Profile): string => id ?? username ?? "unknown"
