import { describeApi } from '#api/http/openapi/describe-api.ts'
import { sortBySpecificity } from '#api/http/specificity.ts'
import { sections } from '#api/routes.ts'
import { type ErrorCode, errorCatalogue } from '#shared/platform/kernel/errors.ts'
import { compileClosed } from '#test/support/closed-schema.ts'

/** The parts of a response that the contract describes. */
export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
  readonly text: string
}

interface Response {
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content?: Readonly<Record<string, { readonly schema: object }>>
}

interface Operation {
  readonly name: string
  readonly method: string
  readonly pattern: RegExp
  readonly responses: Readonly<Record<string, { readonly $ref?: string } & Response>>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Pick<Operation, 'responses'>>>>>
  readonly components: { readonly responses: Readonly<Record<string, Response>>; readonly schemas: Readonly<Record<string, object>> }
}

const document = JSON.parse(JSON.stringify(describeApi(sections, 'http://localhost'))) as Document
const paths = sortBySpecificity(Object.entries(document.paths), ([path]) => path.replace('{path}', '*').replaceAll('{', ':'))
const operations = paths.flatMap(([path, methods]) =>
  Object.entries(methods).map(
    ([method, { responses }]): Operation => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      // A parameter of any number of segments is named path.
      pattern: new RegExp(
        `^${path
          .replaceAll('.', '\\.')
          .replace('/{path}', '(?:/.*)?')
          .replace(/\{\w+\}/g, '[^/]+')}/?$`,
      ),
      responses,
    }),
  ),
)

/**
 * Throws when a response differs from the API's description: an undocumented status, a body that breaks its schema or has an undeclared
 * field, or another form of failure.
 */
export function holdContract(method: string, path: string, answer: Answered): void {
  if (method === 'OPTIONS') return
  const pathname = path.split('?')[0] ?? ''
  const operation = operations.find(
    (one) => one.pattern.test(pathname) && (one.method === method || (one.method === 'GET' && method === 'HEAD')),
  )
  const name = operation?.name ?? `${method} ${pathname}, which is no route,`
  const breach = breachOf(operation, method, answer)
  if (breach) throw new Error(`${name} answered ${answer.status}, ${breach}: ${answer.text.slice(0, 500)}`)
}

function breachOf(operation: Operation | undefined, method: string, answer: Answered): string | undefined {
  const requestId = answer.headers.get('x-request-id') ?? ''
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(requestId)) return `with a request id of another form: ${requestId}`
  if (method === 'HEAD') return undefined
  // A missing range is reported in headers only.
  const isFailure = answer.status >= 400 && answer.status !== 416
  const codes = isFailure ? codesOf(answer, requestId) : []
  if (isFailure && codes.length === 0)
    return 'and its body is not {error: {code, message, request_id}} with a code of this status and this id'
  if (!operation) return codes.includes('NOT_FOUND') ? undefined : 'not NOT_FOUND'
  const named = operation.responses[answer.status]
  const response = named?.$ref ? document.components.responses[named.$ref.split('/').at(-1) ?? ''] : named
  if (!response) return 'which is not documented; a failure of the work itself goes into `fails` of the declaration'
  return isFailure ? failureBreach(response, codes) : successBreach(operation, response, answer)
}

/** The code of a failure whose body has the usual form; for a page without a code, all possible ones. */
function codesOf({ status, headers, body, text }: Answered, requestId: string): readonly ErrorCode[] {
  if (headers.get('content-type')?.startsWith('text/html')) return pageCodesOf(status, text)
  const { error, ...others } = (body ?? {}) as { error?: Record<string, unknown> }
  const keys = Object.keys(error ?? {})
    .sort()
    .join()
  if (Object.keys(others).length > 0 || keys !== 'code,message,request_id' || error?.request_id !== requestId) return []
  if (typeof error.message !== 'string' || error.message === '' || !Object.hasOwn(errorCatalogue, String(error.code))) return []
  const code = error.code as ErrorCode
  return errorCatalogue[code].status === status ? [code] : []
}

/** A page of a failure contains its code, or shows a form again with the error. */
function pageCodesOf(status: number, text: string): readonly ErrorCode[] {
  const codes = (Object.keys(errorCatalogue) as ErrorCode[]).filter((code) => errorCatalogue[code].status === status)
  if (/class="error"|role="alert"/.test(text)) return codes
  return codes.filter((code) => text.includes(`<code>${code}</code>`))
}

function failureBreach(response: Response, codes: readonly ErrorCode[]): string | undefined {
  const documented = JSON.stringify(response.content)
  return codes.some((code) => documented.includes(code))
    ? undefined
    : `with ${codes.join(' or ')}, which is not documented; it goes into \`fails\` of the declaration`
}

function successBreach(operation: Operation, response: Response, { status, headers, body, text }: Answered): string | undefined {
  if (!response.content) return text === '' ? undefined : 'with a body where none is documented'
  const type = headers.get('content-type')?.split(';')[0] ?? ''
  const content = response.content[type] ?? response.content[type.replace(/\/.*/, '/*')] ?? response.content['*/*']
  if (!content) return `with content type ${type}, not ${Object.keys(response.content).join()}`
  if (type !== 'application/json' || !response.content[type]) return undefined
  const wrong = compileClosed(`${operation.name} ${status}`, content.schema, document.components.schemas)(body)
  return wrong && `with a body that breaks its schema (${wrong})`
}
