/** Statements that read shared tables without a workspace, by their name or the beginning of their text. */
interface Exception {
  readonly statements: readonly string[]
  readonly tables: readonly string[]
  /** Why the statement cannot or need not name a workspace. */
  readonly because: string
}

export const exceptions: readonly Exception[] = [
  {
    statements: [
      ...['find', 'replace'].flatMap((verb) =>
        [
          'function_secrets.value',
          ...['message_connections.password', 'message_connections.dkim_key', 'message_connections.webhook_secret'],
          ...['calendars.feed_sealed', 'calendar_attendees.token_sealed', 'payment_connections.credentials'],
          ...['webhooks.secret_sealed', 'webhooks.previous_secret_sealed'],
        ].map((column) => `secrets.${verb} ${column}`),
      ),
    ],
    tables: ['function_secrets', 'message_connections', 'calendars', 'calendar_attendees', 'payment_connections', 'webhooks'],
    because: 'a rotation of the secret key seals the values of all workspaces anew; nobody is shown them',
  },
  {
    statements: ['webhooks.queueWebhooks', 'webhooks.findLateWebhooks'],
    tables: ['webhooks', 'feed_heads', 'workspaces'],
    because: 'the webhooks of all workspaces share the slots of the workers, which find those that have something to do',
  },
  {
    statements: ['webhooks.deleteOldDeliveries', 'webhooks.findFailingWebhooks', 'webhooks.endFailingWebhooks', 'webhooks.releaseLostJobs'],
    tables: ['webhooks', 'webhook_deliveries'],
    because: 'webhooks are swept in all workspaces',
  },
  {
    statements: ['webhooks.countWebhooks', 'webhooks.findOldestWaiting', 'webhooks.countRecentDeliveries', 'events.countStreams'],
    tables: ['webhooks', 'webhook_deliveries', 'workspaces', 'event_streams'],
    because: 'metrics and the overview are about the whole installation',
  },
  {
    statements: ['workspaces.findInvitation', 'workspaces.consumeInvitation'],
    tables: ['invitations'],
    because:
      'the accepting person belongs to no workspace yet: a token of 256 random bits identifies the invitation, and the invitation its workspace',
  },
  {
    statements: ['workspaces.listWorkspacesOf'],
    tables: ['members', 'workspaces'],
    because: 'a person lists its own workspaces: its id restricts the rows',
  },
  {
    statements: ['workspaces.countOwned', 'workspaces.updateShares', 'scope.findShareMembers'],
    tables: ['workspaces'],
    because: 'the workspaces of one owner are counted together: the id of the owner or of its share restricts the rows',
  },
  {
    statements: ['workspaces.findAnyWorkspace'],
    tables: ['workspaces'],
    because: 'the workspace Demo is created on the command line, and only in a database without workspaces',
  },
  {
    statements: ['workspaces.deleteKeyById', 'workspaces.deleteKeyByHash'],
    tables: ['access_keys'],
    because: 'the operator revokes a leaked key on the command line',
  },
  {
    statements: [
      'jobs.selectOperation',
      'jobs.setRunning',
      'jobs.setAttemptEnded',
      'jobs.setWaiting',
      'jobs.updateProgress',
      'jobs.setParked',
      'jobs.setCompleted',
      'jobs.setCancelled',
      'jobs.setReopened',
      'jobs.setFailureAnswered',
    ],
    tables: ['operations'],
    because: 'the id belongs to a job that this process enqueued or fetched; callers read theirs by workspace and id',
  },
  {
    statements: ['drive.deleteLeftObjects', 'drive.deleteLeftSpaces', 'drive.deleteLeftShares'],
    tables: ['drive_spaces', 'drive_objects', 'drive_shares', 'file_usage'],
    because: 'drives of former members are swept in all workspaces',
  },
  {
    statements: ['blobs.doomIdleBlobs', 'blobs.deleteBlobs', 'blobs.findStore', 'blobs.replaceStore', 'blobs.listHeldBlobs'],
    tables: ['blobs'],
    because:
      'blobs without holders are swept in all workspaces, and all others are backed up; whether a store is in use is a question about the whole installation',
  },
  {
    statements: [
      'mail.findMail',
      'mail.findAnyMail',
      'mail.takeMail',
      'mail.completeMailRow',
      'mail.setMailUncertain',
      'mail.setMailFailed',
      'mail.setMailWaiting',
    ],
    tables: ['outbox_mails', 'do_not_contact', 'workspaces'],
    because: 'the id comes with the job that sends the mail; some mails, such as those for new passwords, have no workspace',
  },
  {
    statements: ['messages.findWebhook'],
    tables: ['message_connections'],
    because:
      'the address of a callback identifies only the connection, and the connection its workspace; the signature with its secret is checked',
  },
  {
    statements: ['payments.countAllLinks', 'payments.findSweepLags'],
    tables: ['payment_links', 'payment_connections', 'payment_sweeps'],
    because: 'the number of links and the time since the last sweep are metrics of the whole installation',
  },
  {
    statements: ['events.deleteOldEvents', 'events.renewFeeds'],
    tables: ['feed_heads'],
    because: 'old events of all workspaces are deleted, and a restored copy begins other lists; nobody is shown them',
  },
  {
    statements: ['mail.selectMailCounts'],
    tables: ['outbox_mails'],
    because: 'mails to one address have a limit over all workspaces; they are counted and not shown',
  },
  {
    statements: [
      'jobs.findWaitingLists',
      'jobs.countJobsByQueue',
      'jobs.selectQueueDepths',
      'events.readInboxDepth',
      'events.findWaitingWorkspaces',
      'events.lockHeads',
      'events.numberEvents',
      'events.findTypeListeners',
    ],
    tables: ['gated_jobs', 'event_inbox', 'waiting_deliveries', 'deferred_jobs', 'workspaces', 'event_streams'],
    because: 'workers look for waiting work in all workspaces, whether each may run now, and whether streams follow it',
  },
  {
    statements: [
      'with page as (',
      'with counted as (',
      'select operation.id, operation.job as name,',
      'select operation.attempts, operation.finished_at',
      'select operation.failure_answered_at is not null',
      'select deferred.id, deferred.queue as name',
      'select place, id, name, workspace_id, created_at from (',
      'select coalesce( (select data',
      'select gated.workspace_id, gated.gate, count',
      'select job.id from pgboss.job as job join ( select operation.job',
      'select job.id, job.name, coalesce(job.data',
      'with open as materialized ( select id from operations',
      'with removed as ( delete from deferred_jobs',
      'with waiting as materialized ( select job.name',
      'with letters as materialized ( select letter.id',
      'select failure_answered_at is not null or continuation is not null',
    ],
    tables: ['operations', 'job_failures', 'gated_jobs', 'deferred_jobs'],
    because: 'the operators of the installation look at the jobs of all workspaces and act on them',
  },
  {
    statements: ['workspaces.searchWorkspaces', 'workspaces.findWorkspaceNames'],
    tables: ['members', 'workspaces'],
    because: 'operators see all workspaces in their console',
  },
  {
    statements: [
      ...[
        'jobs.addAttempts',
        'jobs.addWorkspaceFigures',
        'jobs.upsertStoppedJobs',
        'jobs.countWaitingByWorkspace',
        'installation.listWorkspaceHoldings',
        'installation.listSchedules',
        'installation.countDueByKind',
      ],
      ...['jobs.sumAttempts', 'jobs.findTopWorkspaces', 'jobs.countEndedByMinute', 'jobs.sumWorkspaceFigures', 'jobs.selectTopShare'],
    ],
    tables: [
      ...[
        'job_figures',
        'job_failures',
        'workspace_figures',
        'workspaces',
        'deferred_jobs',
        'gated_jobs',
        'event_inbox',
        'waiting_deliveries',
      ],
      ...['record_counts', 'drive_totals', 'outbox_mails', 'due_work', 'flow_runs'],
    ],
    because: 'the operator sees what was done for all workspaces, in numbers; processes add to them',
  },
  {
    statements: ['select mail.id, mail.kind, mail.workspace_id', 'mail.countWaitingMails', 'mail.makeMailsDue'],
    tables: ['outbox_mails', 'workspaces', 'due_work'],
    because: 'the operator looks for mails of all workspaces, without their texts, and lets them be tried',
  },
  {
    statements: ['workspaces.findIdsByName', 'workspaces.listWorkspaces', 'workspaces.listPeople'],
    tables: ['workspaces', 'members'],
    because: 'the operator lists workspaces and people on the command line, and names a workspace there',
  },
  {
    statements: ['with recursive ids as ( select $1::text as id', 'with ids as ( select unnest($1::text[]) as id'],
    tables: [
      ...[
        'audit_entries',
        'due_work',
        'event_inbox',
        'waiting_deliveries',
        'flow_runs',
        'flow_steps',
        'function_runs',
        'functions',
        'gated_jobs',
      ],
      ...['idempotency_records', 'notification_rules', 'notifications', 'operations'],
    ],
    because: 'the operator follows a request by its id on the command line, in whatever workspace it was',
  },
  {
    statements: ['mail.readMailBacklog', 'mail.upsertMailCounts'],
    tables: ['outbox_mails'],
    because: 'the operator counts the mails that wait in all workspaces, and sees no others of their columns',
  },
  {
    statements: ['queues.countAllItems'],
    tables: ['queues', 'queue_counts'],
    because: 'a metric of the installation: a sum over all workspaces, which the operator sees',
  },
  {
    statements: ["update operations as operation set status = 'failed'", 'jobs.selectActiveJobs', 'insert into job_failures'],
    tables: ['operations', 'gated_jobs', 'deferred_jobs'],
    because: 'failed and lost work is found in all workspaces',
  },
  {
    statements: ['types.findWorkspacesBehind', 'types.findUpgradesLeft'],
    tables: ['workspaces', 'record_types', 'fields'],
    because: 'built-in types are upgraded in all workspaces; the operator sees where that failed',
  },
  {
    statements: ['payments.findWebhookConnection'],
    tables: ['payment_connections'],
    because: "a provider's webhook identifies only the connection, by 74 random bits; its signature is checked",
  },
  {
    statements: ['types.selectUsedTypes'],
    tables: ['field_uses', 'field_indexes', 'fields', 'record_types', 'record_counts'],
    because: 'indexes are created where they save most, in all workspaces; the operator sees them',
  },
  {
    statements: ['types.deleteRarePairUses'],
    tables: ['field_uses', 'field_indexes', 'fields'],
    because: 'the pairs of every type are bounded, in all workspaces',
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
      'sweep_job_figures',
      'sweep_workspace_figures',
      'sweep_event_streams',
      'mail.eraseMessageTexts',
    ],
    tables: [
      ...['operations', 'field_uses', 'function_runs', 'job_files', 'invitations', 'outbox_mails', 'calendars'],
      ...['job_figures', 'workspace_figures', 'event_streams'],
    ],
    because: 'old rows are swept in all workspaces',
  },
  {
    statements: ['calendar.findStaleEvents', 'calendar.countStaleEvents'],
    tables: ['calendar_events'],
    because: 'new time zone data changes the times of events in all workspaces',
  },
  {
    statements: ['due.takeDueRows'],
    tables: ['due_work', 'workspaces'],
    because: 'due work is looked for in all workspaces, and whether each may run now',
  },
  {
    statements: ['flows.countOpenRunsByState'],
    tables: ['flow_runs'],
    because: 'the number of open runs is a metric of the whole installation',
  },
  {
    statements: ['flows.findLostRuns'],
    tables: ['flow_runs', 'workspaces', 'operations', 'due_work', 'deferred_jobs'],
    because: 'runs without a job are found in all workspaces',
  },
  {
    statements: ['sweep_flow_runs', 'sweep_flow_outputs', 'sweep_flow_skips', 'sweep_flow_drafts'],
    tables: ['flow_runs', 'flow_outputs', 'flow_skips', 'flow_drafts'],
    because: 'old rows are swept in all workspaces',
  },
  {
    statements: [
      'roles.findLargeRoles',
      'roles.findLargePrincipals',
      'roles.findLargeVisitors',
      'notifications.findCrowdedTypes',
      'forms.findLargeForms',
    ],
    tables: ['roles', 'role_members', 'service_accounts', 'notification_rules', 'forms'],
    because: 'the operator sees what is larger than a limit allows in all workspaces',
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
