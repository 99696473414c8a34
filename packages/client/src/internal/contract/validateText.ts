/**
 * What every text that people read has to be: there. Knows nothing of where it is written.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { InvalidInput } from "../../ClientError.js"

/**
 * Refuses the empty text before anything is sent. Blanks are text: what they are worth is the service's to say.
 *
 * @since 0.1.0
 * @category checks
 */
export const checkText = (text: string): Effect.Effect<void, InvalidInput> =>
  text === "" ? Effect.fail(new InvalidInput({ field: "text", message: "text must not be empty" })) : Effect.void
