import { defineBlock, type StepContext, textMapSetting, textSetting } from '#shared/core/automation/block.ts'
import { hasReference, toPlainJsonInSlices, toText } from '#shared/core/automation/template.ts'
import { toStorableJson } from '#shared/features/flows/execution/step-output.ts'
import { flowLimits } from '#shared/features/flows/limits.ts'
import type { Egress } from '#shared/platform/egress/egress.ts'
import { callHttp, type HttpAnswer, reservedHeaders } from '#shared/platform/egress/http.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { t } from '#shared/platform/kernel/schema.ts'
import { createCharsetDecoder } from '#shared/platform/kernel/values/charset.ts'
import { parseStoredJson } from '#shared/platform/kernel/values/json.ts'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

function addressProblems(url: unknown): string[] {
  if (typeof url !== 'string' || url.trim() === '' || hasReference(url)) return []
  const isHttp = URL.canParse(url.trim()) && ['http:', 'https:'].includes(new URL(url.trim()).protocol)
  return isHttp ? [] : ['url must be an http or https address']
}

function headerProblems(headers: unknown): string[] {
  return Object.entries((headers as object) ?? {}).flatMap(([name, value]) => {
    if (reservedHeaders.has(name.trim().toLowerCase())) return [`headers.${name} cannot be set: it says where a message goes or ends`]
    if (!headerName.test(name.trim())) return [`headers must have names of letters, digits and hyphens, got ${name}`]
    return hasReference(value) || headerValue.test(toText(value)) ? [] : [`headers.${name} must be one line of Latin characters`]
  })
}

/** Names and values that an HTTP message may have (RFC 9110, 5.1 and 5.5). */
const headerName = /^[\w!#$%&'*+.^`|~-]+$/
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/

const methodProblem = `method must be one of ${methods.join(', ')}`

export const httpRequestBlock = defineBlock({
  type: 'action.http_request',
  label: 'Call an address',
  description:
    'Calls a public http or https address. Any answer is data, also a redirect, which is not followed, or an error. Its body is read by its declared charset.',
  settings: {
    method: textSetting(`One of ${methods.join(', ')}; default: GET.`),
    url: textSetting('The address.'),
    headers: textMapSetting('Headers by their names. An Idempotency-Key is sent unless one is set.'),
    body: textSetting('The body, sent unchanged; its content type is application/json unless a header names another.'),
  },
  required: ['url'],
  problems: ({ method, url, headers }) => [
    ...(method === undefined || hasReference(method) || methods.includes(method as string) ? [] : [methodProblem]),
    ...addressProblems(url),
    ...headerProblems(headers),
  ],
  handles: ['out'],
  output: { status: t.Integer(), headers: t.Record(t.String(), t.String()), body: t.Unknown() },
  shown: 'editors',
  app: null,
  work: { calls: (step, { egress }, signal) => request(egress, step, signal) },
})

async function request(egress: Egress, { settings, key, budget }: StepContext, signal: AbortSignal): Promise<unknown> {
  const { method, url, headers, body } = settings
  const text = toText(body)
  const verb = toText(method).trim().toUpperCase() || 'GET'
  if (!methods.includes(verb)) throw problem('VALIDATION_ERROR', methodProblem)
  const set = Object.entries((headers ?? {}) as Readonly<Record<string, unknown>>).map(
    ([name, value]) => [name.trim(), toText(value)] as const,
  )
  const names = new Set(set.map(([name]) => name.toLowerCase()))
  // The author's headers win over the defaults.
  const defaults = { 'idempotency-key': key, ...(text === '' ? {} : { 'content-type': 'application/json' }) }
  const added = Object.entries(defaults).filter(([name]) => !names.has(name))
  const answer = await callHttp(egress.restricted, {
    url: toText(url).trim(),
    method: verb,
    headers: Object.fromEntries([...added, ...set]),
    body: text === '' ? null : text,
    timeoutMs: flowLimits.callTimeoutMs,
    maxBytes: flowLimits.callBytes,
    signal,
  })
  return outputOf(answer, budget)
}

async function outputOf({ status, headers, body }: HttpAnswer, budget: ComputeBudget): Promise<unknown> {
  const shown = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, [value].flat().join(', ')]]))
  const contentType = String(headers['content-type'] ?? '')
  const parsed = await bodyOf(createCharsetDecoder(contentType, 'the answer', false).decode(body), contentType, budget)
  return toStorableJson({ status, headers: Object.fromEntries(shown), body: parsed }, budget)
}

/** Parsed body when the content type is JSON or the text looks like it; otherwise the text. */
async function bodyOf(text: string, contentType: string, budget: ComputeBudget): Promise<unknown> {
  if (!/[/+]json\b/i.test(contentType) && !/^\s*[[{]/.test(text)) return text
  const value = parsedOf(text)
  return value === undefined ? text : toPlainJsonInSlices(value, budget)
}

/** The value of a JSON text; undefined for any other text. */
function parsedOf(text: string): unknown {
  try {
    return parseStoredJson(text)
  } catch {
    return undefined
  }
}
