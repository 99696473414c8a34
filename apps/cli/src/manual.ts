/** The help of every command, for the man page and the reference. The running program does not load this module. */
import * as ManPage from "@plaza/cli-kit/ManPage"
import * as Manual from "@plaza/cli-kit/Manual"
import * as Effect from "effect/Effect"
import { program } from "./Cli.ts"
import { version } from "./version.ts"

export const pages = await Effect.runPromise(Manual.pages(program))

export const manPage = ManPage.render(pages, version)
