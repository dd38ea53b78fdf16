import { recordAccessFor } from '#shared/core/records/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { findRecordType } from '#shared/core/types/record-type.ts'
import { blockKinds } from '#shared/features/flows/blocks.ts'
import { findFlowProblems, readDefinition } from '#shared/features/flows/definitions/check.ts'
import { definitionViewOf, loadKnownReferences, loadSurroundings } from '#shared/features/flows/definitions/flows.ts'
import { type FlowDraft, flowInput } from '#shared/features/flows/definitions/schemas.ts'
import { generateFlowJob } from '#shared/features/flows/jobs.ts'
import { flowLimits } from '#shared/features/flows/limits.ts'
import { EgressFailure } from '#shared/platform/egress/failure.ts'
import { callHttp } from '#shared/platform/egress/http.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import { parseJson } from '#shared/platform/kernel/values/json.ts'
import { defineHandler } from '#workers/core/scope/handler.ts'

/** Maximum size of an assistant's answer. */
const maxAnswerBytes = 2 * 1_048_576

export default defineHandler(generateFlowJob, async ({ payload: { prompt }, scope, signal }) => {
  const answerText = await askAssistant(scope, prompt, signal)
  return { result: await draftOf(scope, answerText) }
})

/** Asks the assistant. Throws AGENT_ERROR with the reason when it fails, AGENT_DISABLED when none is configured. */
async function askAssistant(scope: Scope, prompt: string, signal: AbortSignal): Promise<string> {
  const { agent } = scope.config
  if (agent === null) throw problem('AGENT_DISABLED', undefined, { expected: true })
  const body = { model: agent.model, temperature: 0, messages: await buildPrompt(scope, prompt), response_format: { type: 'json_object' } }
  const url = agent.url.endsWith('/chat/completions') ? agent.url : `${agent.url}/chat/completions`
  const headers = { 'content-type': 'application/json', ...(agent.key === null ? {} : { authorization: `Bearer ${agent.key}` }) }
  const call = {
    url,
    method: 'POST',
    headers,
    body: JSON.stringify(body),
    timeoutMs: flowLimits.draftTimeoutMs,
    maxBytes: maxAnswerBytes,
    signal,
  }
  try {
    const { status, body: answer } = await callHttp(scope.egress.operators, call)
    if (status !== 200) throw agentError(`the assistant answered ${status}`)
    return contentOf(answer.toString())
  } catch (error) {
    if (error instanceof EgressFailure) throw agentError(`the assistant could not be asked: ${error.reason}`)
    throw error
  }
}

const agentError = (reason: string): Problem =>
  problem('AGENT_ERROR', `The assistant could not draft a flow: ${reason}`, { expected: true })

function contentOf(text: string): string {
  const answer = chatAnswerOf(text) as { choices?: readonly { message?: { content?: unknown } }[] } | undefined
  const content = answer?.choices?.[0]?.message?.content
  if (typeof content !== 'string' || content.trim() === '') throw agentError('its answer holds no message')
  return content
}

/**
 * Reads the flow in an assistant's message, as the route reads a saved one, and adds the flow's problems. Throws AGENT_ERROR when it could not
 * be saved.
 */
async function draftOf(scope: Scope, answerText: string): Promise<FlowDraft> {
  try {
    const proposed = parseJson(answerText.trim().replace(/^```(?:json)?\s*|\s*```$/g, ''), 'flow')
    const { name, ...sent } = flowInput.parse(proposed, 'flow')
    const { definition, positions } = readDefinition(sent, [])
    const problems = findFlowProblems(definition, await loadKnownReferences(scope, { ...definition, editor_id: scope.actor.id }))
    return { name, ...definitionViewOf(definition, positions), problems: problems.map((found) => ({ ...found })) }
  } catch (error) {
    if (error instanceof Problem && error.status < 500) throw agentError(error.message)
    throw error
  }
}

function chatAnswerOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw agentError('its answer is no JSON')
  }
}

/** Builds the assistant's messages: the form of a flow, the kinds of blocks, and the record types the caller may read. */
async function buildPrompt(scope: Scope, wish: string): Promise<{ role: 'system' | 'user'; content: string }[]> {
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
    '{{trigger.event}}, {{trigger.input.<path>}}, {{trigger.calendar_event.<field>}}, {{context.<name>}}, {{steps.<node id>.<path>}}, of an updated',
    'record to {{trigger.before.<field>}} and {{trigger.changed}}, of a trigger.event to {{trigger.event.<path>}}, and inside the loop of a logic.for_each to {{item}}, {{item.<path>}} and {{index}}.',
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
