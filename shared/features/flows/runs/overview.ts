import type { Scope } from '#shared/core/scope/scope.ts'
import { listBriefFlows } from '#shared/features/flows/definitions/list.ts'
import type { FlowOverview } from '#shared/features/flows/runs/schemas.ts'
import { findSkippedTotals, findTotals } from '#shared/features/flows/runs/views-store.ts'
import { asSearch } from '#shared/platform/db/statements/statement.ts'

/** Maximum length of the list of upcoming runs. */
const maxUpcoming = 10

/** Builds the overview of the flows the caller may see, with their runs of the last 14 days. */
export async function getFlowOverview(scope: Scope): Promise<FlowOverview> {
  const { db, workspace } = scope
  const flows = await listBriefFlows(scope)
  const counted = { workspaceId: workspace.id, now: scope.now(), flowIds: flows.map(({ id }) => id) }
  const [[totals], [skips]] = await Promise.all([
    db.query(asSearch(findTotals(counted), 'the overview')),
    db.query(findSkippedTotals(counted)),
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
