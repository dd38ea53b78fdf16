import { countAllRecords, lockRecordCap } from '#shared/records/counts-store.ts'
import { withinPlan } from '#shared/scope/plan-cap.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** Does work that adds records; in a workspace of the free plan one caller at a time. Throws LIMIT_EXCEEDED past the cap. */
export const withinRecordCap = <T>(scope: Scope, adds: number, work: (scope: Scope) => Promise<T>): Promise<T> =>
  withinPlan(scope, 'records', adds, { lock: lockRecordCap, count: countAllRecords }, work)
