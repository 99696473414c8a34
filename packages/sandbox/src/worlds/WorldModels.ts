/**
 * Worlds: sandboxes beside the main one, in the same process, each with its own addresses, data, clock, faults, limits and log. This module
 * has the schemas of the control API for them.
 *
 * @since 0.1.0
 */
import { Timestamp } from "@plaza/domain/Resources"
import * as Schema from "effect/Schema"
import { Change } from "../Latitude.ts"
import { Fixtures } from "../seeding/Fixtures.ts"
import { described, optional } from "../Validation.ts"

/** The path prefix of all worlds. */
export const basePath = "/worlds"

// Part of a path and of a file name, also where names differ in case only.
const validId = /^[a-z0-9][a-z0-9-]{0,39}$/

/**
 * The name of a world.
 *
 * @since 0.1.0
 * @category models
 */
export const WorldId = described(
  Schema.String.check(Schema.isPattern(validId)),
  "1 to 40 lower-case letters, digits and hyphens, and start with a letter or a digit"
)

/**
 * How a new world differs from the main one. What is left out is as the sandbox was started.
 *
 * @since 0.1.0
 * @category models
 */
export const NewWorld = Schema.Struct({
  /** Default: `w1`, `w2` and so on. */
  id: optional(WorldId),
  seed: optional(described(Schema.Int, "a whole number")),
  /** Freezes the clock at this time, or with `true` at 2026-01-01T00:00:00Z. */
  freezeClock: optional(Schema.Union([Schema.Boolean, Timestamp])),
  fixtures: optional(Fixtures),
  latitude: optional(Change),
  /** Assumptions that differ; `false` serves only what the document shows. */
  assumptions: optional(Schema.Union([Schema.Record(Schema.String, Schema.Unknown), Schema.Literal(false)]))
}).annotate({ identifier: "NewWorld" })
/** @since 0.1.0 @category models */
export type NewWorld = typeof NewWorld.Type

/** @since 0.1.0 @category models */
export const WorldInfo = Schema.Struct({
  id: WorldId,
  /** The base URL of its interface; ends with `/open/v1`. */
  baseUrl: Schema.String,
  /** The base URL of its control API; ends with `/sandbox`. */
  controlUrl: Schema.String,
  /** Opens the web pages for this world. */
  webUrl: Schema.String,
  seed: Schema.Int,
  /** By the clock of the main sandbox, also if that is frozen. */
  createdAt: Timestamp
}).annotate({ identifier: "World" })
/** @since 0.1.0 @category models */
export interface WorldInfo extends Schema.Struct.Type<typeof WorldInfo.fields> {}

/**
 * A new world, with the seeded key of its shop.
 *
 * @since 0.1.0
 * @category models
 */
export const CreatedWorld = Schema.Struct({ ...WorldInfo.fields, apiKey: Schema.RedactedFromValue(Schema.String) })
  .annotate({ identifier: "CreatedWorld" })
/** @since 0.1.0 @category models */
export interface CreatedWorld extends Schema.Struct.Type<typeof CreatedWorld.fields> {}
