import { type PlatformScope, type Scope, within } from '#shared/core/scope/scope.ts'
import type { Workspace } from '#shared/core/scope/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import type { Config } from '#shared/platform/kernel/config.ts'
import { type Problem, problem } from '#shared/platform/kernel/errors.ts'

/** Maximum of a cap, and the phrase for it in the error message. */
interface Cap {
  readonly most: (freePlan: Config['freePlan']) => number
  readonly amount: (most: number) => string
}

/** The caps of the free plan (docs/contract/limits.md#free-plan). The paid plan has none. */
const caps = Object.freeze({
  records: { most: ({ records }) => records, amount: (most) => `${most} records` },
  fileBytes: { most: ({ fileBytes }) => fileBytes, amount: (most) => `${Math.floor(most / 1024 / 1024)} MB of files` },
  members: { most: ({ members }) => members, amount: (most) => `${most} members, those who are invited included` },
  spaces: { most: ({ spaces }) => spaces, amount: (most) => `${most} custom spaces` },
  draftsPerDay: { most: () => 20, amount: (most) => `${most} drafts of flows a day` },
} satisfies Record<string, Cap>)
type PlanCap = keyof typeof caps

/** A workspace and the configuration with the caps of its plan. */
type PlanScope = Pick<PlatformScope, 'config'> & { readonly workspace: Pick<Workspace, 'plan'> }

/** Cap of the workspace's plan; null when the plan has none. */
export const planCapOf = ({ config, workspace }: PlanScope, name: PlanCap): number | null =>
  workspace.plan === 'paid' ? null : caps[name].most(config.freePlan)

/** LIMIT_EXCEEDED at a cap, for a store that checks the cap in its own statement. */
export function overPlan({ config }: Pick<PlanScope, 'config'>, name: PlanCap): Problem {
  const { most, amount } = caps[name]
  return problem('LIMIT_EXCEEDED', `The free plan holds at most ${amount(most(config.freePlan))}`)
}

/** Throws LIMIT_EXCEEDED when `count`, the total after the change, exceeds the cap. Counts only where the plan has a cap. */
export async function requireWithinPlan(scope: PlanScope, name: PlanCap, count: () => Promise<number>): Promise<void> {
  const cap = planCapOf(scope, name)
  if (cap !== null && (await count()) > cap) throw overPlan(scope, name)
}

/** How a cap is checked: a lock that admits one caller per workspace, and the count. */
interface CountedUnderLock {
  readonly lock: (tx: Executor, workspaceId: string) => Promise<unknown>
  readonly count: (db: Executor, workspaceId: string) => Promise<number>
}

/**
 * Runs work that adds `adds` to the total. Where the plan has a cap, it locks, counts and works in one transaction, so concurrent callers
 * together stay within the cap. Throws LIMIT_EXCEEDED when the cap would be exceeded.
 */
export async function withinPlan<T>(
  scope: Scope,
  name: PlanCap,
  adds: number,
  { lock, count }: CountedUnderLock,
  work: (scope: Scope) => Promise<T>,
): Promise<T> {
  const { workspace } = scope
  if (planCapOf(scope, name) === null) return work(scope)
  return scope.db.transaction(async (tx) => {
    await lock(tx, workspace.id)
    await requireWithinPlan(scope, name, async () => (await count(tx, workspace.id)) + adds)
    return work(within(scope, tx))
  })
}
