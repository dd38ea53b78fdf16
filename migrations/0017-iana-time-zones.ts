import type { Knex } from 'knex'

/** Short names and SystemV names of ICU with the IANA zones that they stand for. None is a name of the IANA list. */
const meanings = {
  ACT: 'Australia/Darwin',
  AET: 'Australia/Sydney',
  AGT: 'America/Argentina/Buenos_Aires',
  ART: 'Africa/Cairo',
  AST: 'America/Anchorage',
  BET: 'America/Sao_Paulo',
  BST: 'Asia/Dhaka',
  CAT: 'Africa/Maputo',
  CNT: 'America/St_Johns',
  CST: 'America/Chicago',
  CTT: 'Asia/Shanghai',
  EAT: 'Africa/Nairobi',
  ECT: 'Europe/Paris',
  IET: 'America/Indiana/Indianapolis',
  IST: 'Asia/Kolkata',
  JST: 'Asia/Tokyo',
  MIT: 'Pacific/Apia',
  NET: 'Asia/Yerevan',
  NST: 'Pacific/Auckland',
  PLT: 'Asia/Karachi',
  PNT: 'America/Phoenix',
  PRT: 'America/Puerto_Rico',
  PST: 'America/Los_Angeles',
  SST: 'Pacific/Guadalcanal',
  VST: 'Asia/Ho_Chi_Minh',
  'SystemV/AST4': 'America/Puerto_Rico',
  'SystemV/AST4ADT': 'America/Halifax',
  'SystemV/CST6': 'America/Regina',
  'SystemV/CST6CDT': 'America/Chicago',
  'SystemV/EST5': 'America/Indiana/Indianapolis',
  'SystemV/EST5EDT': 'America/New_York',
  'SystemV/HST10': 'Pacific/Honolulu',
  'SystemV/MST7': 'America/Phoenix',
  'SystemV/MST7MDT': 'America/Denver',
  'SystemV/PST8': 'Pacific/Pitcairn',
  'SystemV/PST8PDT': 'America/Los_Angeles',
  'SystemV/YST9': 'Pacific/Gambier',
  'SystemV/YST9YDT': 'America/Anchorage',
}

/**
 * Replaces time zones of workspaces, calendars and events that are no IANA names by the names that they stand for, and writes each to the
 * standard error stream. Locks the changed rows. Instants stay: these names have always meant the same zones.
 */
export async function up(knex: Knex): Promise<void> {
  const { rows } = await knex.raw<{ rows: object[] }>(
    `
    with meaning as (select key as old_zone, value as new_zone from jsonb_each_text(?::jsonb)),
    workspace as (
      update workspaces as one set timezone = new_zone from meaning where timezone = old_zone
      returning one.id as workspace_id, 'workspace' as object, one.id, old_zone, new_zone
    ),
    calendar as (
      update calendars as one set timezone = new_zone from meaning where timezone = old_zone
      returning one.workspace_id, 'calendar' as object, one.id, old_zone, new_zone
    ),
    event as (
      update calendar_events as one set timezone = new_zone from meaning where timezone = old_zone
      returning one.workspace_id, 'event' as object, one.id, old_zone, new_zone
    )
    select * from workspace union all select * from calendar union all select * from event order by workspace_id, object, id`,
    [JSON.stringify(meanings)],
  )
  for (const row of rows) process.stderr.write(`${JSON.stringify({ msg: 'time zone replaced by its IANA name', ...row })}\n`)
}
