import type { Knex } from 'knex'

const caps = [
  { table: 'message_templates', most: 1_000 },
  { table: 'forms', most: 500 },
  { table: 'functions', most: 500 },
  { table: 'flows', most: 500 },
  // The team's calendar and the main one of each member are made by Kontor, and those of people who left are out of reach.
  {
    table: 'calendars',
    most: 200,
    counted: `not is_primary and key <> 'team' and left_at is null`,
    when: `not new.is_primary and new.key <> 'team'`,
  },
  // The row that holds the shared assets is no website.
  { table: 'sites', most: 100, counted: 'not is_shared', when: 'not new.is_shared' },
]

/**
 * Limits how many objects of a kind a workspace may have; queues count themselves under the workspace's lock. Each new trigger takes SHARE ROW EXCLUSIVE on its table for a moment. The trigger
 * takes an advisory lock per workspace and table before it counts, so concurrent inserts cannot pass the limit together.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`set local lock_timeout = '5s'`)
  await knex.raw(`
    create function hold_cap() returns trigger language plpgsql as $$
    declare
      most bigint := tg_argv[0];
      present bigint;
    begin
      perform pg_advisory_xact_lock(hashtextextended(tg_name || new.workspace_id::text, 0));
      execute format('select count(*) from (select from %I where workspace_id = $1 and %s limit $2 + 1) as present', tg_table_name, tg_argv[1])
        into present using new.workspace_id, most;
      if present > most then
        raise exception 'a workspace has at most % rows of %', most, tg_table_name using errcode = 'check_violation', constraint = tg_name;
      end if;
      return null;
    end
    $$
  `)
  for (const { table, most, counted = 'true', when = 'true' } of caps) {
    await knex.raw(`
      create trigger ${table}_cap after insert on ${table} for each row when (${when})
      execute function hold_cap('${most}', '${counted.replaceAll("'", "''")}')
    `)
  }
}
