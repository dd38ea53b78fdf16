import * as examples from '#api/core/records/examples.ts'
import { ids } from '#api/http/example-ids.ts'
import { answer, orgPath } from '#api/http/route.ts'
import { listAuditEntries } from '#shared/core/records/audit/list-audit.ts'
import { auditPage, auditQuery } from '#shared/core/records/audit/schemas.ts'

export const routes = [
  answer({
    tag: 'Records',
    app: null,
    limit: null,
    method: 'GET',
    path: `${orgPath}/audit`,
    summary: 'List changes of records',
    description:
      'Newest first. An entry shows what the caller may see of the record; entries of records that the caller may not read are omitted. A page above 10 MB is refused and asks for a smaller limit.',
    example: { query: { object_type: 'orders', record_id: ids.order, limit: 20 }, answer: { entries: [examples.auditEntry], total: 1 } },
    permission: 'audit:read',
    perItem: true,
    query: auditQuery,
    status: 200,
    response: auditPage,
    handle: ({ query }, scope) => listAuditEntries(scope, query),
  }),
]
