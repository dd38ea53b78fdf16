import type { Db } from '#test/support/rows.ts'

/** Assigns one person's roles of a workspace to another. */
export async function moveRoles(db: Db, workspaceId: string, from: string, to: string): Promise<void> {
  await db.query('update role_members set principal_id = $2 where workspace_id = $3 and principal_id = $1', [from, to, workspaceId])
}

/** A submission as it is stored. */
export interface StoredSubmission<Values> {
  readonly values: Values
  readonly record_id: string | null
}

/** The submissions of a form, oldest first. */
export async function readSubmissions<Values>(db: Db, formId: string): Promise<StoredSubmission<Values>[]> {
  const { rows } = await db.query<StoredSubmission<Values>>(
    'select "values", record_id from form_submissions where form_id = $1 order by id',
    [formId],
  )
  return rows
}

/** The values of a workspace's only submission. */
export async function readSubmittedValues(db: Db, workspaceId: string): Promise<object | undefined> {
  const { rows } = await db.query<{ values: object }>('select "values" from form_submissions where workspace_id = $1', [workspaceId])
  return rows[0]?.values
}

/** Stores the fields of a form that the API would refuse. */
export const setFields = (db: Db, formId: string, fields: readonly object[]) =>
  db.query('update forms set fields = $1 where id = $2', [JSON.stringify(fields), formId])
