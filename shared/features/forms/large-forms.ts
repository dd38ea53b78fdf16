import { maxFormFields, maxFormOptions } from '#shared/features/forms/schemas.ts'
import { findLargeForms } from '#shared/features/forms/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'

/** Forms of all workspaces that an earlier release let grow beyond the limits: one line for each. */
export async function listLargeForms(db: Executor): Promise<string[]> {
  const forms = await db.query(findLargeForms({ mostFields: maxFormFields, mostOptions: maxFormOptions }))
  return forms.map(
    ({ workspace_id, id, name, fields, options }) =>
      `workspace ${workspace_id}: form ${id} (${name}) has ${fields} of ${maxFormFields} fields and ${options} of ${maxFormOptions} options`,
  )
}
