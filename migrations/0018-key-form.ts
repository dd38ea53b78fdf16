import type { Knex } from 'knex'

/**
 * Sets the keys of files and the prefixes of shares to NFC. Writes to both tables wait until the end; one scan of each. A name that exists
 * in two forms in a folder, or that is too long in NFC, keeps its form with everything below it: nothing merges, so no share covers more.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    set local lock_timeout = '10s';
    lock table drive_objects, drive_shares in share row exclusive mode;

    create temporary table kept_names on commit drop as
    with keys as (
      select workspace_id, space_id, key from drive_objects
      union select workspace_id, space_id, prefix from drive_shares where prefix <> ''
    ),
    names as (
      select workspace_id, space_id, key, array_to_string(parts[1:depth], '/') || case when depth < cardinality(parts) then '/' else '' end as name
      from (
        select *, string_to_array(key, '/') as parts from keys
        where (workspace_id, space_id) in (select workspace_id, space_id from keys where key is not nfc normalized)
      ) as split cross join generate_subscripts(parts, 1) as depth
    )
    select workspace_id, space_id, normalize(name, nfc) as name from names
    group by workspace_id, space_id, normalize(name, nfc)
    having count(distinct name) > 1 or bool_or(octet_length(normalize(key, nfc)) > 1024);

    update drive_objects as object set key = normalize(key, nfc)
    where key is not nfc normalized and not exists (
      select from kept_names as kept
      where kept.workspace_id = object.workspace_id and kept.space_id = object.space_id
        and (kept.name = normalize(key, nfc) or right(kept.name, 1) = '/' and starts_with(normalize(key, nfc), kept.name))
    );
    update drive_shares as share set prefix = normalize(prefix, nfc)
    where prefix is not nfc normalized and not exists (
      select from kept_names as kept
      where kept.workspace_id = share.workspace_id and kept.space_id = share.space_id
        and (kept.name = normalize(prefix, nfc) or right(kept.name, 1) = '/' and starts_with(normalize(prefix, nfc), kept.name))
    );
  `)
}
