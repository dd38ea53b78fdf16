import type { JsonObject, Schemas } from '#api/http/openapi/collect-schemas.ts'
import { withExample } from '#api/http/openapi/with-example.ts'
import type { PageRoute, Route, Upload } from '#api/http/route.ts'

/** The request body of a route: JSON with its schema, or a file. */
export function requestBodyOf(route: Route, schemas: Schemas): JsonObject {
  if ((route.kind === 'delegate' || route.kind === 'receive') && route.upload)
    return { requestBody: uploadBody(route.upload, route.example?.body) }
  if (route.kind === 'page') return route.method === 'GET' ? {} : { requestBody: formBody(route, schemas) }
  if (!route.body || (route.body === 'any' && route.method === 'GET')) return {}
  const example = withExample(route.example?.body)
  if (route.body === 'any')
    return { requestBody: { description: 'Anything; JSON is parsed.', content: { '*/*': { schema: {}, ...example } } } }
  const { required } = route.body.json as { required?: string[] }
  const content = { 'application/json': { schema: schemas.reference(route.body.json), ...example } }
  return { requestBody: { required: (required ?? []).length > 0, content } }
}

function formBody({ form, multipart, example }: PageRoute, schemas: Schemas): JsonObject {
  const schema = form ? schemas.reference(form.json) : { type: 'object', additionalProperties: { type: 'string' } }
  const media = { schema, ...withExample(example?.body) }
  return { required: true, content: { 'application/x-www-form-urlencoded': media, ...(multipart ? { 'multipart/form-data': media } : {}) } }
}

/** The example is the file itself as text, or the fields of the form. */
function uploadBody({ contentTypes, maxBytes, form, fields = {} }: Upload, example: unknown): JsonObject {
  const types = contentTypes === 'any' ? ['*/*'] : contentTypes
  const file = { type: 'string', format: 'binary' }
  const others = Object.entries(fields).map(([name, description]) => [name, { type: 'string', description }])
  const inForm = {
    type: 'object',
    required: ['file'],
    properties: { file: { ...file, description: 'The file.' }, ...Object.fromEntries(others) },
  }
  const [ofFile, ofForm] = typeof example === 'string' ? [withExample(example), withExample({ file: example })] : [{}, withExample(example)]
  const raw = types.map((type) => [type, { schema: file, ...ofFile }])
  const most = mostOf(maxBytes)
  return {
    required: true,
    description: `The file, up to ${most}: ${[...(form === false ? [] : ['the part named file']), ...(types.length > 0 ? ['the body itself'] : [])].join(', or ')}.`,
    content: { ...(form === false ? {} : { 'multipart/form-data': { schema: inForm, ...ofForm } }), ...Object.fromEntries(raw) },
  }
}

function mostOf(maxBytes: Upload['maxBytes']): string {
  if (maxBytes === 'files') return "the installation's limit for files, 100 MB by default"
  return maxBytes < 1024 * 1024 ? `${maxBytes} bytes` : `${Math.floor(maxBytes / 1024 / 1024)} MB`
}
