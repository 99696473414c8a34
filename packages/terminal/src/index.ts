/**
 * Terminal output of Plaza's programs: results on standard output, everything else on standard error, failures in one
 * sentence with an exit code.
 */
export * as Arguments from "./Arguments.js"
export * as CommandLine from "./CommandLine.js"
export * as Commands from "./Commands.js"
export * as Complete from "./Complete.js"
export * as CompletionScript from "./CompletionScript.js"
export * as Help from "./Help.js"
export * as HelpText from "./HelpText.js"
export * as ManPage from "./ManPage.js"
export * as Manual from "./Manual.js"
export * as Output from "./Output.js"
export * as Problem from "./Problem.js"
export * as Program from "./Program.js"
export * as Progress from "./Progress.js"
export * as Report from "./Report.js"
export * as SecretFile from "./SecretFile.js"
export * as Start from "./Start.js"
export * as Streams from "./Streams.js"
export * as Table from "./Table.js"
export * as Text from "./Text.js"
export * as Words from "./Words.js"
