/** Statements that read shared tables without a workspace, by their name or the beginning of their text. */
interface Exception {
  readonly statements: readonly string[]
  readonly tables: readonly string[]
  /** Why the statement cannot or need not name a workspace. */
  readonly because: string
}

export const exceptions: readonly Exception[] = [
  {
    statements: ['find_invitation', 'use_invitation'],
    tables: ['invitations'],
    because:
      'the accepting person belongs to no workspace yet: a token of 256 random bits identifies the invitation, and the invitation its workspace',
  },
  {
    statements: ['list_my_workspaces'],
    tables: ['members', 'workspaces'],
    because: 'a person lists its own workspaces: its id restricts the rows',
  },
  {
    statements: ['is_any_workspace'],
    tables: ['workspaces'],
    because: 'the workspace Demo is created on the command line, and only in a database without workspaces',
  },
  {
    statements: ['delete_access_key_by_id', 'delete_access_key_by_hash'],
    tables: ['access_keys'],
    because: 'the operator revokes a leaked key on the command line',
  },
  {
    statements: [
      'find_operation',
      'start_operation',
      'advance_operation',
      'park_operation',
      'settle_operation',
      'drop_operation',
      'reopen_operation',
    ],
    tables: ['operations'],
    because: 'the id belongs to a job that this process enqueued or fetched; callers read theirs by workspace and id',
  },
  {
    statements: ['delete_left_drive_objects', 'delete_left_drive_spaces', 'delete_left_drive_shares'],
    tables: ['drive_spaces', 'drive_objects', 'drive_shares', 'file_usage'],
    because: 'drives of former members are swept in all workspaces',
  },
  {
    statements: ['doom_idle_blobs', 'delete_blobs', 'find_blob_store', 'replace_blob_store'],
    tables: ['blobs'],
    because: 'blobs without holders are swept in all workspaces; whether a store is in use is a question about the whole installation',
  },
  {
    statements: ['find_mail', 'find_known_mail', 'take_mail', 'settle_mail', 'note_mail_uncertain', 'note_mail_failure'],
    tables: ['outbox_mails', 'do_not_contact', 'workspaces'],
    because: 'the id comes with the job that sends the mail; some mails, such as those for new passwords, have no workspace',
  },
  {
    statements: ['find_message_webhook'],
    tables: ['message_connections'],
    because:
      'the address of a callback identifies only the connection, and the connection its workspace; the signature with its secret is checked',
  },
  {
    statements: ['count_all_payment_links', 'find_payment_sweep_lags'],
    tables: ['payment_links', 'payment_connections', 'payment_sweeps'],
    because: 'the number of links and the time since the last sweep are metrics of the whole installation',
  },
  {
    statements: ['count_mail'],
    tables: ['outbox_mails'],
    because: 'mails to one address have a limit over all workspaces; they are counted and not shown',
  },
  {
    statements: ['find_gate_lines', 'count_queued_jobs', 'find_queue_depths', 'find_event_lines'],
    tables: ['gated_jobs', 'event_outbox', 'resting_jobs', 'workspaces'],
    because: 'workers look for waiting work in all workspaces, and whether each may run now',
  },
  {
    statements: ['count_all_queue_items'],
    tables: ['queues', 'queue_counts'],
    because: 'a metric of the installation: a sum over all workspaces, which the operator sees',
  },
  {
    statements: ["update operations as operation set status = 'failed'", 'find_active_jobs'],
    tables: ['operations', 'gated_jobs', 'resting_jobs'],
    because: 'failed and lost work is found in all workspaces',
  },
  {
    statements: ['find_workspaces_behind', 'find_upgrades_left'],
    tables: ['workspaces', 'record_types', 'fields'],
    because: 'built-in types are upgraded in all workspaces; the operator sees where that failed',
  },
  {
    statements: ['find_hooked_connection'],
    tables: ['payment_connections'],
    because: "a provider's webhook identifies only the connection, by 74 random bits; its signature is checked",
  },
  {
    statements: ['find_used_types'],
    tables: ['field_uses', 'field_indexes', 'fields', 'record_types', 'record_counts'],
    because: 'indexes are created where they save most, in all workspaces; the operator sees them',
  },
  {
    statements: [
      'sweep_operations',
      'sweep_batch_answers',
      'sweep_field_uses',
      'sweep_function_runs',
      'sweep_job_files',
      'sweep_invitations',
      'sweep_sent_mail',
      'sweep_left_calendars',
      'forget_message_texts',
    ],
    tables: ['operations', 'field_uses', 'function_runs', 'job_files', 'invitations', 'outbox_mails', 'calendars'],
    because: 'old rows are swept in all workspaces',
  },
  {
    statements: ['find_stale_events', 'count_stale_events'],
    tables: ['calendar_events'],
    because: 'new time zone data changes the times of events in all workspaces',
  },
  {
    statements: ['take_due_work'],
    tables: ['due_work', 'workspaces'],
    because: 'due work is looked for in all workspaces, and whether each may run now',
  },
  {
    statements: ['count_open_flow_runs'],
    tables: ['flow_runs'],
    because: 'the number of open runs is a metric of the whole installation',
  },
  {
    statements: ['find_lost_flow_runs'],
    tables: ['flow_runs', 'workspaces', 'operations', 'due_work', 'resting_jobs'],
    because: 'runs without a job are found in all workspaces',
  },
  {
    statements: ['sweep_flow_runs', 'sweep_flow_outputs', 'sweep_flow_skips', 'sweep_flow_drafts'],
    tables: ['flow_runs', 'flow_outputs', 'flow_skips', 'flow_drafts'],
    because: 'old rows are swept in all workspaces',
  },
]

/** The shared tables that a statement may read without a workspace. */
export function exceptedTables(name: string | undefined, text: string): ReadonlySet<string> {
  const words = oneLine(text)
  // The first statement of a verified read has the same name with a v at the end.
  const fits = (statement: string) => statement === name || `${statement}v` === name || words.startsWith(statement)
  return new Set(exceptions.filter(({ statements }) => statements.some(fits)).flatMap(({ tables }) => tables))
}

/** Text in one line with single spaces. */
export const oneLine = (text: string): string => text.trim().replaceAll(/\s+/g, ' ')
