/**
 * The text of the help and of the man page, made when the program is bundled. The running program does not load this module.
 */
import * as Help from "@plaza-legacy/cli-kit/Help"
import * as ManPage from "@plaza-legacy/cli-kit/ManPage"
import { options, root } from "./Cli.ts"

export const manual = Help.manual(root, options)

export const manPage = ManPage.render(manual)
