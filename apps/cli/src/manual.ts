/** The manual and the man page, generated when the program is bundled. */
import * as Help from "@plaza/cli-kit/Help"
import * as ManPage from "@plaza/cli-kit/ManPage"
import { plaza, program } from "./Cli.js"

export const manual = Help.manual(plaza, program)

export const manPage = ManPage.render(manual)
