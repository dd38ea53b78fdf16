import type { Knex } from 'knex'

export const config = { transaction: false }

/**
 * Causes of messages, which the events of their outcomes tell; what readers see of events whose listeners get more; an index for the last
 * event of each calendar event. The columns lock `outbox_mails` and `event_inbox` exclusively for a moment; no table is rewritten, and the
 * index is built beside writers.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    begin;
    set local lock_timeout = '10s';
    -- Of a message: what sent it; null for one of an earlier release, and for mail of Kontor.
    alter table outbox_mails add column if not exists cause jsonb;
    -- What readers see; null where that is the snapshot.
    alter table event_inbox add column if not exists data jsonb;
    commit;
  `)
  await knex.raw('drop index concurrently if exists events_of_calendars')
  await knex.raw(
    `create index concurrently events_of_calendars on events (workspace_id, subject_id, seq)
     where type in (
       'calendar.event.created', 'calendar.event.updated', 'calendar.event.cancelled', 'calendar.event.answered', 'calendar.booked'
     )`,
  )
}
