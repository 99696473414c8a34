/**
 * How the programs of Plaza speak: results on standard output, everything else on standard error, failures in one sentence with a
 * status of their own.
 *
 * @since 0.1.0
 */
export * as Arguments from "./Arguments.js"
export * as CommandLine from "./CommandLine.js"
export * as Commands from "./Commands.js"
export * as Help from "./Help.js"
export * as Output from "./Output.js"
export * as Problem from "./Problem.js"
export * as Program from "./Program.js"
export * as Progress from "./Progress.js"
export * as Report from "./Report.js"
export * as Streams from "./Streams.js"
export * as Table from "./Table.js"
export * as Text from "./Text.js"
