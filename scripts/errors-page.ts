import { codesOf } from '#api/http/openapi/failures.ts'
import type { Route } from '#api/http/route.ts'
import { type ErrorCode, errorCatalogue } from '#shared/platform/kernel/errors.ts'
import { markdownTable } from './contract/markdown-table.ts'
import { countByTag } from './contract/route-counts.ts'

/** Advice to the caller for each code. A new code does not compile without its row. */
const actions: Readonly<Record<ErrorCode, string>> = {
  VALIDATION_ERROR: 'Correct the request; the message names the field and the rule. Do not retry it unchanged.',
  UNAUTHORIZED: 'Sign in again, or send a valid key.',
  LIMIT_EXCEEDED: 'Delete something or change the plan.',
  FORBIDDEN: 'Ask an administrator for the permission that the message names. Do not retry.',
  ORG_SUSPENDED: 'Stop calling this workspace until the operator resumes it.',
  NOT_FOUND: 'Check the id. Hidden resources and routes of a switched-off app have the same answer.',
  KEY_TAKEN: 'Choose another key.',
  DUPLICATE_VALUE: 'Change the value of the unique field, or update the record that holds it.',
  SLOT_TAKEN: 'Read the free slots again and choose another.',
  SHEET_LOCKED: 'Wait until the other editor has finished.',
  AGENT_BUSY: 'Wait for the current reply.',
  PRECONDITION_FAILED: 'Read the object again, apply the change to it, and send the new ETag as If-Match.',
  RATE_LIMITED: 'Wait for the seconds of Retry-After, then retry.',
  INTERNAL: 'Retry with growing delay and the same Idempotency-Key. Report the request id if it stays.',
  AGENT_ERROR: 'Retry with growing delay.',
  MARKETPLACE_ERROR: 'Check the connection of the store, then retry with growing delay.',
  DATASOURCE_ERROR: 'Check the connection of the data source, then retry with growing delay.',
  ORG_NOT_READY: 'Wait for the seconds of Retry-After, then retry.',
  AGENT_DISABLED: 'Do without the assistant; the operator configures it.',
  KNOWLEDGE_DISABLED: 'Do without knowledge search; the operator configures it.',
  OVERLOADED: 'Wait for the seconds of Retry-After, then retry with growing delay and fewer calls at once.',
  UNAVAILABLE:
    'Wait for the seconds of Retry-After, then repeat the call with the same Idempotency-Key. Without a key, read first if the message says that the change may have been stored.',
  CANCELLED: 'Ask the operator before you repeat the call; parts that were committed before stay.',
  SHEETS_MEMORY: 'Use a smaller spreadsheet.',
}

/** Makes the text of docs/errors.md from the catalogue and the routes. */
export const describeErrors = (routes: readonly Route[]): string => `${intro}${errorTable(routes)}\n`

/** All error codes with status, meaning, advice and routes: the table of docs/errors.md and of docs/contract. */
export function errorTable(routes: readonly Route[]): string {
  const codes = Object.keys(errorCatalogue) as ErrorCode[]
  return markdownTable(
    ['Code', 'Status', 'Meaning', 'Advice', 'Routes'],
    codes.map((code) => {
      const { status, message } = errorCatalogue[code]
      return [code, String(status), message, actions[code], tagsOf(code, routes)]
    }),
  )
}

/** The tags of the routes that may answer a code, each with its number of routes; 'every route' if all may. */
function tagsOf(code: ErrorCode, routes: readonly Route[]): string {
  const answering = routes.filter((route) => codesOf(route).includes(code))
  if (answering.length === routes.length) return 'every route'
  if (answering.length > routes.length / 2) return `${answering.length} of ${routes.length} routes`
  return countByTag(answering)
}

const intro = `# Errors

Made from \`shared/platform/kernel/errors.ts\` and the routes by \`UPDATE_CONTRACTS=1 npm test -- test/contracts.test.ts\`; do not edit it by hand.

A failure has one shape: \`{"error": {"code", "message", "request_id"}}\`. Decide by \`code\`; \`message\` is for people and may change.
\`request_id\` is also the header \`X-Request-ID\`: \`npx kontor trace <request id>\` shows what the request caused. Retry 429, 500, 502 and 503 with
growing delay. Do not retry 400, 401, 403, 404 or 409 unchanged.
"no route" marks codes that only appear inside results, such as a failed step of a flow, or that no feature answers yet.

`
