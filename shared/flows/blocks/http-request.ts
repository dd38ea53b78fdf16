import { reservedHeaders } from '#shared/egress/http.ts'
import { defineBlock, text, texts } from '#shared/flows/block.ts'
import { hasReference } from '#shared/flows/template.ts'
import { t } from '#shared/kernel/schema.ts'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

function addressProblems(url: unknown): string[] {
  if (typeof url !== 'string' || url.trim() === '' || hasReference(url)) return []
  const isHttp = URL.canParse(url.trim()) && ['http:', 'https:'].includes(new URL(url.trim()).protocol)
  return isHttp ? [] : ['url must be an http or https address']
}

function headerProblems(headers: unknown): string[] {
  const reserved = Object.keys((headers as object) ?? {}).find((name) => reservedHeaders.has(name.trim().toLowerCase()))
  return reserved === undefined ? [] : [`headers.${reserved} cannot be set: it says where a message goes or ends`]
}

export const httpRequestBlock = defineBlock({
  type: 'action.http_request',
  label: 'Call an address',
  description: 'Calls a public http or https address. Any answer is data, also a redirect, which is not followed, or an error.',
  settings: {
    method: text(`One of ${methods.join(', ')}; GET unless set.`),
    url: text('Where.'),
    headers: texts('Headers by their names. An Idempotency-Key is sent unless one is set.'),
    body: text('Sent as it is; as application/json unless a header says otherwise.'),
  },
  required: ['url'],
  problems: ({ method, url, headers }) => [
    ...(method === undefined || method === '' || methods.includes(method as string) ? [] : [`method must be one of ${methods.join(', ')}`]),
    ...addressProblems(url),
    ...headerProblems(headers),
  ],
  handles: ['out'],
  output: { status: t.Integer(), headers: t.Record(t.String(), t.String()), body: t.Unknown() },
  shown: 'editors',
  app: null,
  work: { waits: async () => ({ kind: 'call' }) },
})
