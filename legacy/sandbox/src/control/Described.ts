/**
 * The texts of an endpoint in the OpenAPI document of the control API.
 *
 * @since 0.1.0
 */
import * as OpenApi from "@effect/platform/OpenApi"
import * as Context from "effect/Context"

/** @since 0.1.0 @category annotations */
export const described = (summary: string, description: string): Context.Context<OpenApi.Summary | OpenApi.Description> =>
  Context.make(OpenApi.Summary, summary).pipe(Context.add(OpenApi.Description, description))
