import type { Scope } from '#shared/core/scope/scope.ts'
import { listBriefFlows } from '#shared/features/flows/definitions/list.ts'
import type { FlowOverview } from '#shared/features/flows/runs/schemas.ts'
import { findSkippedTotals, findTotals } from '#shared/features/flows/runs/views-store.ts'

/** Maximum length of the list of upcoming runs. */
const maxUpcoming = 10

type Totals = Pick<FlowOverview, 'daily' | 'failing' | 'busiest'> & {
  readonly runs_24h: { readonly ok: number; readonly failed: number }
  readonly runs_7d: { readonly ok: number; readonly failed: number }
}

/** Builds the overview of the flows the caller may see, with their runs of the last 14 days. */
export async function getFlowOverview(scope: Scope): Promise<FlowOverview> {
  const { db, workspace } = scope
  const flows = await listBriefFlows(scope)
  const ids = flows.map(({ id }) => id)
  const now = scope.now()
  const [[totals], [skips]] = await Promise.all([
    db.query<Totals>(findTotals(workspace.id, now, ids)),
    db.query<{ skipped_24h: number; skipped_7d: number }>(findSkippedTotals(workspace.id, now, ids)),
  ])
  const nothing = { ok: 0, failed: 0 }
  const names = new Map(flows.map(({ id, name }) => [id, name]))
  const withNames = <Item extends { flow_id: string }>(items: readonly Item[] = []) =>
    items.map((item) => ({ ...item, flow_name: names.get(item.flow_id) ?? '' }))
  const kinds = Map.groupBy(
    flows.filter(({ trigger_kind }) => trigger_kind !== null),
    ({ trigger_kind }) => trigger_kind,
  )
  return {
    total: flows.length,
    enabled: flows.filter(({ enabled }) => enabled).length,
    by_trigger: Object.fromEntries([...kinds].map(([kind, ofKind]) => [kind, ofKind.length])),
    runs_24h: { ...nothing, ...totals?.runs_24h, skipped: skips?.skipped_24h ?? 0 },
    runs_7d: { ...nothing, ...totals?.runs_7d, skipped: skips?.skipped_7d ?? 0 },
    daily: [...(totals?.daily ?? [])],
    failing: withNames(totals?.failing),
    busiest: withNames(totals?.busiest),
    upcoming: flows
      .flatMap(({ id, name, next_run_at }) => (next_run_at === null ? [] : [{ flow_id: id, flow_name: name, next_run_at }]))
      .sort((one, other) => (one.next_run_at < other.next_run_at ? -1 : 1))
      .slice(0, maxUpcoming),
  }
}
