import type { RecordGuard, RecordGuards } from '#shared/core/scope/record-guard.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { accountGuard } from '#shared/features/accounting/guard.ts'

/** What each room refuses about records that it refers to. A room joins with its own guard. */
const named: readonly RecordGuard<Scope>[] = [accountGuard]

/**
 * Every guard by the type that it minds. Processes hold them among their services, and the records functions ask them, so that every door
 * (routes, batches, the SDK, flow blocks) meets the same refusal without records knowing of the rooms.
 */
export const guards: RecordGuards<Scope> = Map.groupBy(named, ({ type }) => type)
