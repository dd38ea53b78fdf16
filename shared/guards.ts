import type { RecordGuard, RecordGuards } from '#shared/core/scope/record-guard.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { accountGuard } from '#shared/features/accounting/guard.ts'

/** The guards of all features. A feature adds its own here. */
const allGuards: readonly RecordGuard<Scope>[] = [accountGuard]

/**
 * The guards by record type. They are part of the services, and the functions of core/records call them, so that routes, batches, the SDK
 * and flow blocks meet the same refusal without a dependency of records on features.
 */
export const guards: RecordGuards<Scope> = Map.groupBy(allGuards, ({ type }) => type)
