import type { Api } from '../client/api.ts'
import { type ExistingField, importedColumns, type Proposal, proposeType } from './propose.ts'
import type { Survey } from './survey.ts'

/** Proposes a type for a file; one that is there already is asked for its fields. Changes nothing. */
export async function proposeFor(api: Api, orgId: string, typeKey: string, survey: Survey): Promise<Proposal> {
  const types = await api.get<readonly { key: string }[]>(`/orgs/${orgId}/types`)
  const isThere = types.some(({ key }) => key === typeKey)
  const query = new URLSearchParams({ entity_type: typeKey })
  return proposeType(survey, typeKey, isThere ? await api.get<readonly ExistingField[]>(`/orgs/${orgId}/fields?${query}`) : undefined)
}

/** Makes the type and the fields of a proposal that are not there yet. */
export async function prepareType(api: Api, orgId: string, proposal: Proposal): Promise<void> {
  const { key, label, isNew } = proposal.type
  if (isNew) await api.post(`/orgs/${orgId}/types`, { json: { key, label } })
  for (const column of importedColumns(proposal)) {
    if (column.plan !== 'create') continue
    const rules = column.type === 'select' ? { options: column.column.options } : {}
    const field = { entity_type: key, key: column.key, label: column.label, type: column.type, rules }
    await api.post(`/orgs/${orgId}/fields`, { json: field })
  }
}
