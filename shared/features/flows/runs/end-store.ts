import { insertHappenings } from '#shared/platform/events/inbox-store.ts'

/** The columns of ended runs that `announceEnds` reads, for `returning`. */
export const endColumns = 'workspace_id, id, flow_id, version, status, trigger, retry_of, depth, editor_id'

/**
 * Who ends a run: the run itself, whose actor is its editor; the platform, which gives it up; or a caller, whose cause is the parameter `cause`
 * as JSON. The depth is at least the run's, so that flows that start each other by the ends of their runs form a chain.
 */
const causes = {
  run: `jsonb_build_object(
     'actorId', editor_id, 'actorType', case when exists (
       select from service_accounts as account where account.workspace_id = $workspaceId::uuid and account.id = editor_id
     ) then 'service' else 'user' end,
     'requestId', id, 'depth', depth, 'kind', 'flow', 'id', id
   )`,
  platform: `jsonb_build_object('actorId', null, 'actorType', 'system', 'requestId', id, 'depth', depth, 'kind', 'system', 'id', null)`,
  caller: `$cause::text::jsonb || jsonb_build_object('depth', greatest(depth, ($cause::text::jsonb ->> 'depth')::integer))`,
} as const

/**
 * SQL that inserts the events of ended runs into the inbox, as part of the statement that ends them: `table` is its table of the runs, with
 * `endColumns`; those that go on are passed over. A run ends once, so it has one event.
 */
export const announceEnds = (table: string, by: keyof typeof causes): string =>
  insertHappenings({
    source: 'flows',
    workspace: '$workspaceId',
    cause: 'happened.cause',
    from: `select case status when 'ok' then 'run.finished' else 'run.failed' end as event, '' as topic, id as subject_id,
       jsonb_build_object('flow', flow_id, 'id', id) as subject,
       jsonb_build_object('status', status, 'trigger', trigger ->> 'kind', 'version', version, 'retry_of', retry_of) as data,
       null::jsonb as kept, ${causes[by]} as cause, id as position
     from ${table} where status in ('ok', 'failed', 'cancelled')`,
  })
