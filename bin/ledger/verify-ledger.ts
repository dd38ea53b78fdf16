import type { LedgerVerification } from '#shared/features/accounting/seals/schemas.ts'
import { findTarget, type TargetOptions } from '../client/target.ts'
import type { CommandResult } from '../command.ts'
import type { Shell } from '../shell.ts'

/** Verifies a workspace's ledger; `failed` is true when there are differences. */
export async function verifyLedger(options: TargetOptions, shell: Shell): Promise<CommandResult> {
  const { api, orgId } = await findTarget(options, shell.environment)
  const found = await api.get<LedgerVerification>(`/orgs/${orgId}/accounting/verify`)
  const checked = `${found.entries} entries and ${found.seals} seals`
  const lines = found.differences.map(({ kind, id, detail }) => `${kind} ${id}: ${detail}`)
  return { data: found, lines: found.ok ? [`${checked}: nothing differs`] : [`${checked}: they differ`, ...lines], failed: !found.ok }
}
