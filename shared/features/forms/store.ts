import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { creationPageSql } from '#shared/platform/db/lists.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

declareConflicts({
  forms_key: ['KEY_TAKEN', 'key is used by another form'],
  forms_cap: ['VALIDATION_ERROR', 'a workspace can have 500 forms; delete some first'],
})

const columns = `id, key, name, description, fields, settings,
  case when object_type is not null then json_build_object('object_type', object_type) end as target,
  function_id, published, edited_by, created_at, updated_at`

/** Forms of a workspace, oldest first. Values: workspace, position, how many. */
export const findForms = creationPageSql('list_forms', `select ${columns} from forms where workspace_id = $1`, 1)

/** One form. Values: workspace, id. */
export const findForm = sql('find_form', `select ${columns} from forms where workspace_id = $1 and id = $2`)

/** One form by its key. Values: workspace, key. */
export const findFormByKey = sql('find_form_by_key', `select ${columns} from forms where workspace_id = $1 and key = $2`)

/** Makes a form. Values: workspace, id, key, name, description, fields, settings, record type, function, published, editor. */
export const insertForm = sql(
  'insert_form',
  `insert into forms (workspace_id, id, key, name, description, fields, settings, object_type, function_id, published, edited_by)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning ${columns}`,
)

/** Replaces a form; the same values. */
export const replaceForm = sql(
  'replace_form',
  `update forms
   set key = $3, name = $4, description = $5, fields = $6, settings = $7, object_type = $8, function_id = $9, published = $10,
     edited_by = $11, updated_at = greatest(now(), updated_at + interval '1 microsecond')
   where workspace_id = $1 and id = $2 returning ${columns}`,
)

/** Deletes a form with what was sent by it. Values: workspace, id. */
export const deleteForm = sql('delete_form', 'delete from forms where workspace_id = $1 and id = $2 returning id')
