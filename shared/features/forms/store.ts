import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { creationPageSql } from '#shared/platform/db/lists.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'
import { insertOwnEvents } from '#shared/platform/events/store.ts'

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

const submissionColumns = `id, "values", record_id, error, spam, state, created_at`

/**
 * Keeps a submission, unless the visitor's attempt is kept already, and files what follows for the subscriber `forms`, in one
 * statement. Values: workspace, form, id, the attempt's name or null, values as JSON, spam or null, state, the form's key, cause as JSON.
 */
export const insertSubmission = sql(
  'keep_submission',
  `with kept as (
     insert into form_submissions (workspace_id, form_id, id, visitor_key, "values", spam, state)
     values ($1::uuid, $2::uuid, $3::uuid, $4, $5::text::json, $6, $7::text)
     on conflict (workspace_id, form_id, visitor_key) where visitor_key is not null do nothing
     returning form_id, id, state
   ),
   dispatched as (${insertOwnEvents({
     subscriber: 'forms',
     event: 'submitted',
     workspace: '$1',
     topic: '$8',
     cause: '$9',
     from: `select id, id as subject_id, form_id as listener_id from kept where state = 'waiting'`,
   })})
   select exists (select from dispatched) as dispatched, exists (select from kept) as kept`,
)

/** What was said in a visitor's attempt, as it was sent. Values: workspace, form, the attempt's name. */
export const findSubmittedValues = sql(
  'find_said_in_submission',
  `select "values"::text as said from form_submissions where workspace_id = $1 and form_id = $2 and visitor_key = $3`,
)

/** A page of a form's submissions, newest first. Values: workspace, form, the id before, how many. */
export const findSubmissions = sql(
  'find_submissions',
  `select ${submissionColumns} from form_submissions where workspace_id = $1 and form_id = $2 and id < $3 order by id desc limit $4`,
)

/** One submission. Values: workspace, form, id. */
export const findSubmission = sql(
  'find_submission',
  `select ${submissionColumns} from form_submissions where workspace_id = $1 and form_id = $2 and id = $3`,
)

/** Lets nobody else follow a submission until the transaction ends; one that waits for it. Values: workspace, form, id. */
export const lockWaitingSubmission = sql(
  'lock_waiting_submission',
  `select id, "values", record_id from form_submissions
   where workspace_id = $1 and form_id = $2 and id = $3 and state = 'waiting' for update`,
)

/** Notes what has become of a submission that waited. Values: workspace, form, id, state, record, run. */
export const markProcessed = sql(
  'note_followed_submission',
  `update form_submissions set state = $4, record_id = $5, run_id = $6
   where workspace_id = $1 and form_id = $2 and id = $3 and state = 'waiting'`,
)

/** Notes why a submission that waited was refused. Values: workspace, form, id, error. */
export const markRefused = sql(
  'note_refused_submission',
  `update form_submissions set state = 'failed', error = $4 where workspace_id = $1 and form_id = $2 and id = $3 and state = 'waiting'`,
)

/** The run of a submission whose function runs. Values: workspace, form, id. */
export const findRunOfSubmission = sql(
  'find_running_submission',
  `select run_id from form_submissions where workspace_id = $1 and form_id = $2 and id = $3 and state = 'running'`,
)

/** Notes how the function of a submission ended. Values: workspace, form, id, run, error or null. */
export const markRunEnded = sql(
  'note_ended_submission',
  `update form_submissions set state = case when $5::text is null then 'done' else 'failed' end, error = $5
   where workspace_id = $1 and form_id = $2 and id = $3 and state = 'running' and run_id = $4`,
)

/**
 * Lets what failed, or was taken for spam, be done again: one of several callers at once does. Values: workspace, form, id, whether anything
 * follows, the form's key, cause as JSON.
 */
export const requeueSubmission = sql(
  'retry_submission',
  `with retried as (
     update form_submissions set state = case when $4::boolean then 'waiting' else 'kept' end, spam = null, error = null
     where workspace_id = $1 and form_id = $2 and id = $3 and (state = 'failed' or spam is not null)
     returning form_id, id, state
   ),
   dispatched as (${insertOwnEvents({
     subscriber: 'forms',
     event: 'submitted',
     workspace: '$1',
     topic: '$5',
     cause: '$6',
     from: `select id, id as subject_id, form_id as listener_id from retried where state = 'waiting'`,
   })})
   select exists (select from dispatched) as dispatched`,
)
