import type { feature } from '#shared/platform/mail/feature.ts'
import type { HandlersOf } from '#workers/platform/jobs/handler.ts'
import { createSendMailHandlers } from '#workers/platform/mail/send-mail.ts'
import type { FindConnectionTransport } from '#workers/platform/mail/transports.ts'

export const createHandlers = (findConnectionTransport: FindConnectionTransport) =>
  createSendMailHandlers(findConnectionTransport) satisfies HandlersOf<typeof feature.jobs>
