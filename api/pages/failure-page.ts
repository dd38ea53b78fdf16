import type { Page } from '#api/pages/page.ts'
import { template } from '#api/pages/template.ts'
import { type ErrorCode, errorCatalogue, type Problem } from '#shared/platform/kernel/errors.ts'

interface Failure {
  readonly code: ErrorCode
  readonly message: string
  readonly requestId: string
  /** Address of the page to sign in; empty where that does not help. */
  readonly signIn: string
}

const renderBody = template<Failure>(new URL('failure.eta', import.meta.url))

/** The page for a missing page or a failed request. `entrance` is the address where those sign in who may see the page. */
export function failurePage(failure: Problem, requestId: string, entrance = ''): Page {
  const { code } = failure
  const message = failure.message === errorCatalogue[code].message ? (texts[code] ?? failure.message) : failure.message
  return {
    title: titles[code] ?? 'This did not work',
    failure,
    body: renderBody({ code, message, requestId, signIn: code === 'UNAUTHORIZED' ? entrance : '' }),
  }
}

const titles: Partial<Readonly<Record<ErrorCode, string>>> = {
  UNAUTHORIZED: 'Please sign in',
  NOT_FOUND: 'There is nothing here',
  RATE_LIMITED: 'Too many attempts',
  OVERLOADED: 'The server is busy',
  UNAVAILABLE: 'The server is busy',
  INTERNAL: 'Something went wrong on our side',
}

/** Messages for visitors, used where the error has no message of its own. */
const texts: Partial<Readonly<Record<ErrorCode, string>>> = {
  NOT_FOUND: 'The address may have a mistake in it, or the page is no longer open.',
  RATE_LIMITED: 'Please wait a minute, then try again.',
  OVERLOADED: 'Please try again in a few seconds.',
  UNAVAILABLE: 'Please try again in a few seconds.',
  INTERNAL: 'Please try again in a minute.',
}
