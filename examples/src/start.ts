/**
 * The first thing a newcomer runs: the main job, from a file to the shop, on this machine alone.
 *
 * @since 0.1.0
 */
process.stdout.write("Plaza\n")
