/**
 * A sandbox that serves only what the document shows.
 */
import { Sandbox } from "@plaza/sandbox"

export const documentOnly = Sandbox.layerHttpClient({ assumptions: false })
/** The same, with another quota. */
export const withQuota = Sandbox.layerHttpClient({ assumptions: { undocumented: false, dailyQuota: 1_000 } })
