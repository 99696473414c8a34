/**
 * The whole interface as a local, stateful service with faults on request.
 *
 * @since 0.1.0
 */
export { Assumptions } from "./Assumptions.ts"
export * from "./control/ControlApi.ts"
export { Commit } from "./http/Commits.ts"
export { ActiveFault, Fault, FaultId } from "./http/Fault.ts"
export { type FaultPreset, faultPresets } from "./http/FaultPresets.ts"
export { RequestDetail, RequestRecord } from "./http/RequestLog.ts"
export * as Latitude from "./Latitude.ts"
export { text as storedText } from "./latitude/Stored.ts"
export * as Sandbox from "./Sandbox.ts"
export * from "./SandboxError.ts"
export { Fixtures } from "./seeding/Fixtures.ts"
export { Snapshot } from "./seeding/Snapshots.ts"
export { StateSnapshot } from "./seeding/StateSnapshot.ts"
export { ClockState } from "./VirtualClock.ts"
export { CreatedWorld, NewWorld, WorldId, WorldInfo } from "./worlds/WorldModels.ts"
