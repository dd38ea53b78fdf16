import { recordAccessFor } from '#shared/core/records/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { findRecordType } from '#shared/core/types/record-type.ts'
import { blockKinds } from '#shared/features/flows/blocks.ts'
import { loadSurroundings } from '#shared/features/flows/definitions/flows.ts'

/** Builds the assistant's messages: the form of a flow, the kinds of blocks, and the record types the caller may read. */
export async function buildPrompt(scope: Scope, wish: string): Promise<{ role: 'system' | 'user'; content: string }[]> {
  const kinds = blockKinds.map(({ type, description, settings, required, handles }) => ({
    type,
    description,
    config: settings.json,
    required,
    handles,
  }))
  const content = [
    'You draft a workflow. Answer with one JSON object and nothing else:',
    '{"name": text, "nodes": [{"id": text, "type": text, "config": object, "position": {"x": number, "y": number}}],',
    ' "edges": [{"id": text, "source": node id, "source_handle": one of the handles of the source, "target": node id}], "context": object of text}.',
    'Exactly one node is a trigger, and the edges form no cycle. Texts may refer to {{trigger.record.<field>}}, {{trigger.record_id}},',
    '{{trigger.event}}, {{trigger.input.<path>}}, {{trigger.calendar_event.<field>}}, {{context.<name>}}, {{steps.<node id>.<path>}}, and inside',
    'the loop of a logic.for_each to {{item}}, {{item.<path>}} and {{index}}.',
    `The kinds of nodes: ${JSON.stringify(kinds)}`,
    `The record types: ${JSON.stringify(await typesOf(scope))}`,
  ].join('\n')
  return [
    { role: 'system', content },
    { role: 'user', content: wish },
  ]
}

/** Field types by field key by record type key, for the types and fields the caller may read. */
async function typesOf(scope: Scope): Promise<Record<string, Record<string, string>>> {
  const { fieldKeys } = await loadSurroundings(scope)
  const types: Record<string, Record<string, string>> = {}
  for (const key of fieldKeys.keys()) {
    const type = await findRecordType(scope, key)
    const access = type && recordAccessFor(scope, type, 'records:read')
    if (!type || !access || access.verdict === 'none') continue
    const fields = type.fields.filter((field) => !access.neverVisible.has(field.key))
    types[key] = Object.fromEntries(fields.map((field) => [field.key, field.type]))
  }
  return types
}
