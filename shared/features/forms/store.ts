import type { FormField, FormSettings, Submission } from '#shared/features/forms/schemas.ts'
import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { creationPage } from '#shared/platform/db/lists.ts'
import { bigint, boolean, instant, json, text, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { insertOwnEvents } from '#shared/platform/events/inbox-store.ts'

declareConflicts({
  forms_key: ['KEY_TAKEN', 'key is used by another form'],
  forms_cap: ['VALIDATION_ERROR', 'a workspace can have 500 forms; delete some first'],
})

const columns = {
  id: uuid.notNull,
  key: text.notNull,
  name: text.notNull,
  description: text.notNull,
  fields: json.as<FormField[]>().notNull,
  settings: json.as<FormSettings>().notNull,
  target: json.as<{ object_type: string }>(),
  function_id: uuid,
  published: boolean.notNull,
  edited_by: uuid,
  created_at: instant.notNull,
  updated_at: instant.notNull,
}
const list = `id, key, name, description, fields, settings,
  case when object_type is not null then json_build_object('object_type', object_type) end as target,
  function_id, published, edited_by, created_at, updated_at`

/** A page of a workspace's forms, oldest first. */
export const findForms = creationPage('forms.findForms', `select ${list} from forms where workspace_id = $workspaceId`, {
  params: { workspaceId: uuid },
  columns,
})

/** One form. */
export const findForm = statement('forms.findForm', `select ${list} from forms where workspace_id = $workspaceId and id = $id`, {
  params: { workspaceId: uuid, id: uuid },
  columns,
})

/** The keys of these forms. */
export const findFormKeys = statement(
  'forms.findFormKeys',
  'select id, key from forms where workspace_id = $workspaceId and id = any($ids::uuid[])',
  {
    params: { workspaceId: uuid, ids: uuids },
    columns: { id: uuid.notNull, key: text.notNull },
  },
)

/** The forms of all workspaces that have more than so many fields, or more than so many options in all. */
export const findLargeForms = statement(
  'forms.findLargeForms',
  `select workspace_id, id, name, count as fields, options from (
     select form.workspace_id, form.id, form.name, count(field) as count,
       coalesce(sum(json_array_length(field -> 'options')) filter (where json_typeof(field -> 'options') = 'array'), 0)::bigint as options
     from forms as form, json_array_elements(form.fields) as field
     group by form.workspace_id, form.id, form.name
   ) as counted where count > $mostFields or options > $mostOptions order by workspace_id, id`,
  {
    params: { mostFields: bigint, mostOptions: bigint },
    columns: { workspace_id: uuid.notNull, id: uuid.notNull, name: text.notNull, fields: bigint.notNull, options: bigint.notNull },
  },
)

/** One form by its key. */
export const findFormByKey = statement(
  'forms.findFormByKey',
  `select ${list} from forms where workspace_id = $workspaceId and key = $key`,
  { params: { workspaceId: uuid, key: text }, columns },
)

const formParams = {
  workspaceId: uuid,
  id: uuid,
  key: text,
  name: text,
  description: text,
  fields: json,
  settings: json,
  objectType: text.orNull,
  functionId: uuid.orNull,
  published: boolean,
  editedBy: uuid.orNull,
}

/** Inserts a form. */
export const insertForm = statement(
  'forms.insertForm',
  `insert into forms (
     workspace_id, id, key, name, description, fields, settings, object_type, function_id, published, edited_by
   )
   values (
     $workspaceId, $id, $key, $name, $description, $fields, $settings, $objectType, $functionId, $published, $editedBy
   )
   returning ${list}`,
  { params: formParams, columns },
)

/** Replaces a form. */
export const replaceForm = statement(
  'forms.replaceForm',
  `update forms
   set key = $key, name = $name, description = $description, fields = $fields, settings = $settings, object_type = $objectType,
     function_id = $functionId, published = $published, edited_by = $editedBy,
     updated_at = greatest(now(), updated_at + interval '1 microsecond')
   where workspace_id = $workspaceId and id = $id returning ${list}`,
  { params: formParams, columns },
)

/** Deletes a form with its submissions. */
export const deleteForm = statement('forms.deleteForm', 'delete from forms where workspace_id = $workspaceId and id = $id returning id', {
  params: { workspaceId: uuid, id: uuid },
  columns: { id: uuid.notNull },
})

const submissionColumns = {
  id: uuid.notNull,
  values: json.as<Record<string, unknown>>().notNull,
  record_id: uuid,
  error: text,
  spam: text,
  state: text.as<Submission['state']>().notNull,
  created_at: instant.notNull,
}
const submissionList = `id, "values", record_id, error, spam, state, created_at`

/** Inserts the event of a submission, which the subscriber `forms` hears if it waits; `from` selects the event's id and type, and the row. */
const announceSubmission = (from: string) =>
  insertOwnEvents({
    subscriber: 'forms',
    event: 'submitted',
    workspace: '$workspaceId',
    topic: '$formKey',
    cause: '$cause',
    from: `select submitted.event_id as id, type, submitted.id as subject_id, jsonb_build_object('form', form_id, 'id', submitted.id) as subject,
       case when state = 'waiting' then form_id end as listener_id
     from (${from}) as submitted`,
  })

/**
 * Stores a submission, unless the visitor's attempt is already stored, and inserts the event for the subscriber `forms`, in one statement.
 */
export const insertSubmission = statement(
  'forms.insertSubmission',
  `with kept as (
     insert into form_submissions (workspace_id, form_id, id, visitor_key, "values", spam, state)
     values ($workspaceId::uuid, $formId::uuid, $id::uuid, $attemptKey, $values::text::json, $spam, $state::text)
     on conflict (workspace_id, form_id, visitor_key) where visitor_key is not null do nothing
     returning form_id, id, state
   ),
   announced as (${announceSubmission(`select id as event_id, 'forms.submitted' as type, form_id, id, state from kept where $spam::text is null`)})
   select exists (select from announced) as announced, exists (select from kept) as kept`,
  {
    params: {
      workspaceId: uuid,
      formId: uuid,
      id: uuid,
      attemptKey: text.orNull,
      /** JSON text. */
      values: text,
      spam: text.orNull,
      state: text.as<Submission['state']>(),
      formKey: text,
      /** JSON text. */
      cause: text,
    },
    columns: { announced: boolean.notNull, kept: boolean.notNull },
  },
)

/** The values of a visitor's attempt, as JSON text as they were sent. */
export const findSubmittedValues = statement(
  'forms.findSubmittedValues',
  `select "values"::text as values_text from form_submissions
   where workspace_id = $workspaceId and form_id = $formId and visitor_key = $attemptKey`,
  { params: { workspaceId: uuid, formId: uuid, attemptKey: text }, columns: { values_text: text.notNull } },
)

/** A page of a form's submissions, newest first, before a submission. */
export const findSubmissions = statement(
  'forms.findSubmissions',
  `select ${submissionList} from form_submissions
   where workspace_id = $workspaceId and form_id = $formId and id < $beforeId order by id desc limit $limit`,
  { params: { workspaceId: uuid, formId: uuid, beforeId: uuid, limit: bigint }, columns: submissionColumns },
)

const submissionParams = { workspaceId: uuid, formId: uuid, id: uuid }

/** One submission. */
export const findSubmission = statement(
  'forms.findSubmission',
  `select ${submissionList} from form_submissions where workspace_id = $workspaceId and form_id = $formId and id = $id`,
  { params: submissionParams, columns: submissionColumns },
)

/** Reads a waiting submission and locks its row until the transaction ends. */
export const lockWaitingSubmission = statement(
  'forms.lockWaitingSubmission',
  `select id, "values", record_id from form_submissions
   where workspace_id = $workspaceId and form_id = $formId and id = $id and state = 'waiting' for update`,
  {
    params: submissionParams,
    columns: { id: uuid.notNull, values: json.as<Readonly<Record<string, unknown>>>().notNull, record_id: uuid },
  },
)

/** Saves the result of a waiting submission: its record and the run of its function. */
export const markProcessed = statement(
  'forms.markProcessed',
  `update form_submissions set state = $state, record_id = $recordId, run_id = $runId
   where workspace_id = $workspaceId and form_id = $formId and id = $id and state = 'waiting'`,
  { params: { ...submissionParams, state: text.as<'done' | 'running'>(), recordId: uuid.orNull, runId: uuid.orNull } },
)

/** Saves why a waiting submission was refused. */
export const markRefused = statement(
  'forms.markRefused',
  `update form_submissions set state = 'failed', error = $error
   where workspace_id = $workspaceId and form_id = $formId and id = $id and state = 'waiting'`,
  { params: { ...submissionParams, error: text } },
)

/** The run of a submission whose function runs. */
export const findRunOfSubmission = statement(
  'forms.findRunOfSubmission',
  `select run_id from form_submissions where workspace_id = $workspaceId and form_id = $formId and id = $id and state = 'running'`,
  { params: submissionParams, columns: { run_id: uuid } },
)

/** Saves how the function of a submission ended; a null error means success. */
export const markRunEnded = statement(
  'forms.markRunEnded',
  `update form_submissions set state = case when $error::text is null then 'done' else 'failed' end, error = $error
   where workspace_id = $workspaceId and form_id = $formId and id = $id and state = 'running' and run_id = $runId`,
  { params: { ...submissionParams, runId: uuid, error: text.orNull } },
)

/** Resets a failed or spam submission so that it is processed again; of concurrent calls only one resets it. */
export const requeueSubmission = statement(
  'forms.requeueSubmission',
  `with retried as (
     update form_submissions set state = case when $hasFollowUp::boolean then 'waiting' else 'kept' end, spam = null, error = null
     where workspace_id = $workspaceId and form_id = $formId and id = $id and (state = 'failed' or spam is not null)
     returning form_id, id, state, old.spam is not null as was_spam
   ),
   announced as (${announceSubmission(
     `select uuidv7() as event_id, case when was_spam then 'forms.submitted' end as type, form_id, id, state from retried
      where was_spam or state = 'waiting'`,
   )})
   select exists (select from announced) as announced`,
  {
    params: {
      ...submissionParams,
      /** Whether the form has a target or a function. */
      hasFollowUp: boolean,
      formKey: text,
      /** JSON text. */
      cause: text,
    },
    columns: { announced: boolean.notNull },
  },
)
