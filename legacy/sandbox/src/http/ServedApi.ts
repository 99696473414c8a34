/**
 * How the sandbox serves the interface: the groups of the contract and the assumed groups under the base path, each behind
 * `Admission`. Responses may have fields that the contract doesn't have.
 *
 * @since 0.1.0
 */
import type { Forbidden } from "@plaza-legacy/domain/Errors"
import type * as Endpoints from "./Endpoints.ts"
import { RequiresAdmission } from "./RequiresAdmission.ts"

/**
 * The path of the interface. The base URL of a sandbox ends with it.
 *
 * @since 0.1.0
 * @category constants
 */
export const basePath = "/open/v1"

/** @since 0.1.0 @category api */
export const servedInterface: Endpoints.Serving<RequiresAdmission, Forbidden> = {
  basePath,
  middleware: (endpoint) => endpoint.middleware(RequiresAdmission),
  furtherFields: "preserve"
}
