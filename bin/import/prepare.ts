import type { Api } from '../client/api.ts'
import { type ExistingField, importedColumns, type Proposal, proposeType } from './propose.ts'
import type { Survey } from './survey.ts'

/** Proposes a type for a file, using the fields of the type if it exists. Changes nothing. */
export async function proposeFor(api: Api, orgId: string, typeKey: string, survey: Survey): Promise<Proposal> {
  const types = await api.get<readonly { key: string }[]>(`/orgs/${orgId}/types`)
  const exists = types.some(({ key }) => key === typeKey)
  const query = new URLSearchParams({ entity_type: typeKey })
  return proposeType(survey, typeKey, exists ? await api.get<readonly ExistingField[]>(`/orgs/${orgId}/fields?${query}`) : undefined)
}

/** Creates the missing type and fields of a proposal. */
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
