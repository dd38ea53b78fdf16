import { ids } from '#api/http/example-ids.ts'

export const finishedExport = {
  id: ids.job,
  kind: 'records.export',
  status: 'done',
  progress: { done: 2, total: 2 },
  result: null,
  error: null,
  created_at: '2026-11-21T09:30:00.735169Z',
  started_at: '2026-11-21T09:30:00.745214Z',
  finished_at: '2026-11-21T09:30:01.102239Z',
}

export const exportedFile = `id,created_at,customer,contact_email,order_total,order_status,previous_order,related_orders
${ids.order},2026-11-21T09:30:00.367000Z,Café Lindgren,,128.5,open,${ids.previousOrder},
${ids.previousOrder},2026-11-07T14:05:33.361000Z,Café Lindgren,lena@cafe-lindgren.example,96,done,,
`
