import type { Db } from '#test/support/rows.ts'

/** Adds versions 2 to `last` to a stored flow, equal to its first. */
export async function addFlowVersions(db: Db, flowId: string, last: number): Promise<void> {
  await db.query(
    `insert into flow_versions (workspace_id, flow_id, version, nodes, edges, context, editor_id, created_at)
     select workspace_id, flow_id, n, nodes, edges, context, editor_id, created_at from flow_versions, generate_series(2, $2::integer) as n
     where flow_id = $1 and version = 1`,
    [flowId, last],
  )
}

/** Adds forms with a description of `length` times one character. */
export async function addForms(db: Db, workspaceId: string, character: string, length: number, count: number): Promise<void> {
  await db.query(
    `insert into forms (workspace_id, id, key, name, description, fields, settings, published)
     select $1, uuidv7(), 'form-' || n, 'Form', repeat($2, $3), '[]', '{"submit_label":"","success_message":"","redirect":""}', false
     from generate_series(1, $4) as n`,
    [workspaceId, character, length, count],
  )
}

/** Adds 200 steps with an output of 60 kB each to a run of a flow. */
export async function addLongSteps(db: Db, workspaceId: string, runId: string): Promise<void> {
  await db.query(
    `insert into flow_steps (workspace_id, run_id, node_id, iteration, place, node_type, status, output, is_cut, started_at, duration_ms)
     select $1, $2, 'x', n::text, 100 + n, 'logic.condition', 'ok', json_build_object('result', repeat('x', 60000)), false, now(), 1
     from generate_series(1, 200) as n`,
    [workspaceId, runId],
  )
}

/** Adds 25 submissions of 900 kB each to a form. */
export async function addLongSubmissions(db: Db, workspaceId: string, formId: string): Promise<void> {
  await db.query(
    `insert into form_submissions (workspace_id, form_id, id, "values", state)
     select $1, $2, uuidv7(), json_build_object('text', repeat('x', 900000)), 'kept' from generate_series(1, 25)`,
    [workspaceId, formId],
  )
}
