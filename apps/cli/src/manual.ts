/** The manual and the man page, generated when the program is bundled. */
import * as Help from "@plaza/cli-kit/Help"
import * as ManPage from "@plaza/cli-kit/ManPage"
import * as Effect from "effect/Effect"
import { program } from "./Cli.ts"

export const manual = Help.manual(await Effect.runPromise(program.load()), program)

export const manPage = ManPage.render(manual)
