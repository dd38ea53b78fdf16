/** Statements that read shared tables without a workspace, by their name or the beginning of their text. */
interface Exception {
  readonly statements: readonly string[]
  readonly tables: readonly string[]
  /** Why no workspace can be named, or need be. */
  readonly because: string
}

export const exceptions: readonly Exception[] = [
  {
    statements: ['workspaces.selectInvitation', 'workspaces.deleteInvitationByToken'],
    tables: ['invitations'],
    because: 'whoever accepts belongs to no workspace yet: 256 random bits name the invitation, and the invitation its workspace',
  },
  {
    statements: ['workspaces.listWorkspacesOfUser'],
    tables: ['members', 'workspaces'],
    because: 'a person asks which workspaces it belongs to: its own id holds the rows',
  },
  {
    statements: ['workspaces.findAnyWorkspace'],
    tables: ['workspaces'],
    because: 'the workspace Demo is made on the command line, and only in a database that holds no workspace at all',
  },
  {
    statements: ['workspaces.deleteKeyById', 'workspaces.deleteKeyByHash'],
    tables: ['access_keys'],
    because: 'the operator revokes a key that was found somewhere, on the command line',
  },
  {
    statements: [
      'jobs.selectOperation',
      'jobs.setRunning',
      'jobs.updateProgress',
      'jobs.setParked',
      'jobs.setCompleted',
      'jobs.setCancelled',
      'jobs.setReopened',
    ],
    tables: ['operations'],
    because: 'the id is that of a job which this process has enqueued or fetched itself; callers look theirs up by workspace and id',
  },
  {
    statements: ['drive.deleteLeftObjects', 'drive.deleteLeftSpaces', 'drive.deleteLeftShares'],
    tables: ['drive_spaces', 'drive_objects', 'drive_shares', 'file_usage'],
    because: 'drives of members who left long ago are swept in all workspaces',
  },
  {
    statements: ['blobs.doomIdleBlobs', 'blobs.deleteBlobs', 'blobs.findStore', 'blobs.replaceStore'],
    tables: ['blobs'],
    because: 'bytes that nothing holds are swept in all workspaces; whether a store is in use at all is asked of the whole installation',
  },
  {
    statements: [
      'mail.selectMail',
      'mail.findAnyMail',
      'mail.takeMailRow',
      'mail.completeMailRow',
      'mail.setMailUncertain',
      'mail.setMailFailed',
    ],
    tables: ['outbox_mails', 'do_not_contact', 'workspaces'],
    because: 'the id comes with the job that sends the mail; some mails, such as those for new passwords, have no workspace',
  },
  {
    statements: ['messages.findWebhook'],
    tables: ['message_connections'],
    because:
      'the address of a callback names the connection alone, and the connection its workspace; what is signed with its secret is let in',
  },
  {
    statements: ['payments.countAllLinks', 'payments.findSweepLags'],
    tables: ['payment_links', 'payment_connections', 'payment_sweeps'],
    because: 'how many links there are, and for how long providers were not asked, are figures of the whole installation',
  },
  {
    statements: ['mail.selectMailCounts'],
    tables: ['outbox_mails'],
    because: 'what one address gets is capped over all workspaces; it is counted, and nothing of it is shown',
  },
  {
    statements: ['jobs.findWaitingLists', 'jobs.countJobsByQueue', 'jobs.selectQueueDepths', 'events.selectWaitingWorkspaces'],
    tables: ['gated_jobs', 'event_outbox', 'deferred_jobs', 'workspaces'],
    because: 'workers look for what waits in all workspaces, and whether each may have it now',
  },
  {
    statements: ['queues.countAllItems'],
    tables: ['queues', 'queue_counts'],
    because: 'a metric of the installation: a sum over all workspaces, which the operator sees',
  },
  {
    statements: ["update operations as operation set status = 'failed'", 'jobs.selectActiveJobs'],
    tables: ['operations', 'gated_jobs', 'deferred_jobs'],
    because: 'what was given up, or lost with its worker, is found in all workspaces',
  },
  {
    statements: ['types.findWorkspacesBehind', 'types.findUpgradesLeft'],
    tables: ['workspaces', 'record_types', 'fields'],
    because: 'built-in types are brought to all workspaces; the operator sees where that was not possible',
  },
  {
    statements: ['payments.findWebhookConnection'],
    tables: ['payment_connections'],
    because: "a provider's webhook names the connection alone, by 74 random bits; its signature decides what it may say",
  },
  {
    statements: ['types.selectUsedTypes'],
    tables: ['field_uses', 'field_indexes', 'fields', 'record_types', 'record_counts'],
    because: 'indexes are made where they are of most use, in all workspaces; the operator sees them',
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
      'mail.eraseMessageTexts',
    ],
    tables: ['operations', 'field_uses', 'function_runs', 'job_files', 'invitations', 'outbox_mails', 'calendars'],
    because: 'what is old is swept in all workspaces',
  },
  {
    statements: ['calendar.selectStaleEvents', 'calendar.selectStaleCount'],
    tables: ['calendar_events'],
    because: 'new time zone data changes the times of events in all workspaces',
  },
  {
    statements: ['due.takeDueRows'],
    tables: ['due_work', 'workspaces'],
    because: 'what is due is looked for in all workspaces, and whether each may have it now',
  },
  {
    statements: ['flows.countOpenRunsByState'],
    tables: ['flow_runs'],
    because: 'how many runs are open is a figure of the whole installation',
  },
  {
    statements: ['flows.findLostRuns'],
    tables: ['flow_runs', 'workspaces', 'operations', 'due_work', 'deferred_jobs'],
    because: 'runs that have lost their job are found in all workspaces',
  },
  {
    statements: ['sweep_flow_runs', 'sweep_flow_outputs', 'sweep_flow_skips', 'sweep_flow_drafts'],
    tables: ['flow_runs', 'flow_outputs', 'flow_skips', 'flow_drafts'],
    because: 'what is old is swept in all workspaces',
  },
]

/** The shared tables that a statement may read without a workspace. */
export function exceptedTables(name: string | undefined, text: string): ReadonlySet<string> {
  const words = oneLine(text)
  // What a read's first statement finds out by the way stands under the same name with a v behind it.
  const fits = (statement: string) => statement === name || `${statement}v` === name || words.startsWith(statement)
  return new Set(exceptions.filter(({ statements }) => statements.some(fits)).flatMap(({ tables }) => tables))
}

/** Text with one blank wherever it has several, or lines. */
export const oneLine = (text: string): string => text.trim().replaceAll(/\s+/g, ' ')
