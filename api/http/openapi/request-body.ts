import type { Json, Schemas } from '#api/http/openapi/collect-schemas.ts'
import type { Route, Upload } from '#api/http/route.ts'

/** What a request of this route carries: JSON by its schema, or a file. */
export function requestBodyOf(route: Route, schemas: Schemas): Json {
  if (route.kind === 'delegate' && route.upload) return { requestBody: uploadBody(route.upload) }
  if (!route.body || (route.body === 'any' && route.method === 'GET')) return {}
  if (route.body === 'any') return { requestBody: { description: 'Anything; JSON is parsed.', content: { '*/*': { schema: {} } } } }
  const { required } = route.body.json as { required?: string[] }
  return {
    requestBody: { required: (required ?? []).length > 0, content: { 'application/json': { schema: schemas.refer(route.body.json) } } },
  }
}

function uploadBody({ contentTypes, maxBytes }: Upload): Json {
  const file = { type: 'string', contentMediaType: contentTypes[0] ?? 'application/octet-stream' }
  const form = { type: 'object', required: ['file'], properties: { file: { ...file, description: 'The file.' } } }
  const raw = contentTypes.map((type) => [type, { schema: { type: 'string', contentMediaType: type } }])
  return {
    required: true,
    description: `The file, up to ${Math.floor(maxBytes / 1024 / 1024)} MB: the part named file, or the body itself.`,
    content: { 'multipart/form-data': { schema: form }, ...Object.fromEntries(raw) },
  }
}
