/**
 * The whole interface as a local, stateful service with faults on request.
 *
 * @since 0.1.0
 */
export { allScopes, Assumptions, defaults as defaultAssumptions } from "./Assumptions.js"
export * from "./ControlApi.js"
export { Commit } from "./Commits.js"
export { ActiveFault, Fault, FaultId } from "./Fault.js"
export { Fixtures, Quantities } from "./Fixtures.js"
export * as Latitude from "./Latitude.js"
export { RequestRecord } from "./RequestLog.js"
export * as Sandbox from "./Sandbox.js"
export * from "./SandboxError.js"
export { State } from "./State.js"
export { ClockState } from "./VirtualClock.js"
