import type { Knex } from 'knex'

/**
 * Adds the sizes of policies, and a cap of notification rules. Lock: ACCESS EXCLUSIVE on roles while it is rewritten, SHARE ROW EXCLUSIVE on
 * notification_rules for a moment.
 *
 * Adds to templates which of their variables begin with a root of flows, and logs each flow that sends such a template without a value for
 * one of them: a template sees `vars` alone from now on. Lock: ACCESS EXCLUSIVE on message_templates while it is rewritten; it has at most
 * 1,000 rows a workspace.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Bytes of a policy as compact JSON: without the blanks that jsonb writes between the parts, which are those outside of strings.
    create function compact_json_bytes(document jsonb) returns integer language sql immutable strict parallel safe as $$
      select octet_length(document::text)
        - length(regexp_replace(regexp_replace(document::text, '"(\\\\.|[^"\\\\])*"', '', 'g'), '[^ ]', '', 'g'))
    $$;
    alter table roles add column policy_bytes integer not null generated always as (compact_json_bytes(policy)) stored;

    -- At most 100 rules of a record type. The lock per type is taken before counting, so concurrent inserts cannot exceed the limit together.
    create function limit_notification_rules() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock(hashtextextended('notification_rules_cap' || new.workspace_id || new.object_type, 0));
      if (select count(*) from notification_rules where workspace_id = new.workspace_id and object_type = new.object_type) > 100 then
        raise exception 'a record type has at most 100 notification rules' using errcode = 'check_violation',
          constraint = 'notification_rules_cap';
      end if;
      return null;
    end
    $$;
    create trigger notification_rules_cap after insert on notification_rules for each row execute function limit_notification_rules();
    create trigger notification_rules_moved after update on notification_rules for each row
      when (old.object_type is distinct from new.object_type) execute function limit_notification_rules();

    -- At most ten names, sorted; null for none. A database function, so that a process of the previous release writes them too.
    create function flow_references(body text) returns text[] language sql immutable strict parallel safe as $$
      select (array_agg(name order by name))[1:10]
      from (
        select distinct found[1] as name
        from regexp_matches(body, '\\{\\{[ \\t]*([A-Za-z0-9_.-]{1,200})[ \\t]*\\}\\}', 'g') as found
      ) as names
      where split_part(name, '.', 1) in ('trigger', 'context', 'steps', 'item', 'index')
    $$;
    create function template_flow_references(subject text, body_text text, body_html text) returns jsonb language sql immutable
      parallel safe as $$
      select jsonb_strip_nulls(jsonb_build_object(
        'subject', flow_references(subject), 'body_text', flow_references(body_text), 'body_html', flow_references(body_html)
      ))
    $$;
    -- The variables that begin with a root of flows, by the part of the template.
    alter table message_templates
      add column flow_references jsonb not null generated always as (template_flow_references(subject, body_text, body_html)) stored;

    do $$
    declare
      affected record;
    begin
      for affected in
        select flow.workspace_id, flow.id as flow_id, flow.name, node.value->>'id' as node_id, template.id as template_id,
          string_agg(distinct missing.name, ', ' order by missing.name) as names
        from flows as flow
        join flow_versions as version
          on version.workspace_id = flow.workspace_id and version.flow_id = flow.id and version.version = flow.version
        cross join json_array_elements(version.nodes) as node
        join message_templates as template
          on template.workspace_id = flow.workspace_id and template.id::text = lower(btrim(node.value#>>'{config,template_id}'))
        cross join jsonb_each(template.flow_references) as part
        cross join jsonb_array_elements_text(part.value) as missing (name)
        where node.value->>'type' = 'action.send_message'
          and coalesce(node.value->'config'->>part.key, '') = ''
          and not coalesce(jsonb_exists((node.value#>'{config,vars}')::jsonb, missing.name), false)
        group by flow.workspace_id, flow.id, flow.name, node.value->>'id', template.id
        order by flow.workspace_id, flow.id, template.id
      loop
        raise warning 'workspace %: flow % (%) sends template % at %, which names % and gets no such vars: the step will fail',
          affected.workspace_id, affected.flow_id, affected.name, affected.template_id, affected.node_id, affected.names;
      end loop;
    end
    $$;
  `)
}
