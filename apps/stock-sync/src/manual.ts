/**
 * What the program tells of itself, gathered when it is bundled: for its help, which is there before the program is, and for man. Never
 * part of the program itself.
 *
 * @since 0.1.0
 */
import * as Help from "@plaza/terminal/Help"
import * as ManPage from "@plaza/terminal/ManPage"
import { options, root } from "./Cli.js"

/** @since 0.1.0 @category metadata */
export const manual = Help.manual(root, options)

/** @since 0.1.0 @category metadata */
export const manPage = ManPage.render(manual)
