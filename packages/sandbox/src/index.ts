/**
 * The whole interface as a local, stateful service with faults on request.
 *
 * @since 0.1.0
 */
export { Assumptions } from "./Assumptions.js"
export * from "./control/ControlApi.js"
export { StateSnapshot } from "./control/StateSnapshot.js"
export { Commit } from "./http/Commits.js"
export { ActiveFault, Fault, FaultId } from "./http/Fault.js"
export { type FaultPreset, faultPresets } from "./http/FaultPresets.js"
export { RequestDetail, RequestRecord } from "./http/RequestLog.js"
export * as Latitude from "./Latitude.js"
export { text as storedText } from "./latitude/Stored.js"
export * as Sandbox from "./Sandbox.js"
export * from "./SandboxError.js"
export { Fixtures } from "./seeding/Fixtures.js"
export { Snapshot } from "./storage/Snapshots.js"
export { ClockState } from "./VirtualClock.js"
