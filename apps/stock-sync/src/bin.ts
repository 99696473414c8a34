/**
 * The entry of the `plaza-stock-sync` executable: reads the command line and hands over. Knows no rule of the interface.
 *
 * @since 0.1.0
 */
import { name, version } from "./version.js"

process.stdout.write(`${name} ${version}\n`)
