/** The help of every command, for the man page and the reference. The running program does not load this module. */
import * as ManPage from "@plaza/cli-kit/ManPage"
import * as Manual from "@plaza/cli-kit/Manual"
import * as Effect from "effect/Effect"
import { program } from "./Cli.ts"
import { version } from "./version.ts"

const [root, ...others] = await Effect.runPromise(Manual.pages(program))

/** The options of the ledger may stand anywhere on the command line, but not every command has them. */
const withOwnFlags = (page: Manual.Page): Manual.Page => {
  const own = page.globals.filter(({ name }) => !root.globals.some((flag) => flag.name === name))
  return { ...page, flags: [...page.flags, ...own], globals: root.globals }
}

export const pages: Manual.Pages = [root, ...others.map(withOwnFlags)]

export const manPage = ManPage.render(pages, version)
