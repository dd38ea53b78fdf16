import { countAllRecords, lockRecordCap } from '#shared/core/records/create/counts-store.ts'
import { withinPlan } from '#shared/core/scope/plan-cap.ts'
import type { Scope } from '#shared/core/scope/scope.ts'

/** Runs work that adds `adds` records; on the free plan one caller per workspace at a time. Throws LIMIT_EXCEEDED beyond the plan's cap. */
export const withinRecordCap = <T>(scope: Scope, adds: number, work: (scope: Scope) => Promise<T>): Promise<T> =>
  withinPlan(scope, 'records', adds, { lock: lockRecordCap, count: countAllRecords }, work)
