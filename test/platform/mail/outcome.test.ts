import test from 'ava'
import { EgressFailure } from '#shared/platform/egress/failure.ts'
import { classifyFailure } from '#shared/platform/mail/delivery-outcome.ts'

const reply = (responseCode: number, response: string) => Object.assign(new Error('said'), { responseCode, response })
const coded = (code: string) => Object.assign(new Error('words'), { code })

for (const [what, error, before, after] of [
  ['451', reply(451, '451 later'), 'later', 'later'],
  ['550 5.1.1', reply(550, '550 5.1.1 unknown'), 'bounced', 'bounced'],
  ['550-5.1.1 over several lines', reply(550, '550-5.1.1 unknown\n550 5.1.1 see x'), 'bounced', 'bounced'],
  ['550 5.1.11', reply(550, '550 5.1.11 other'), 'failed', 'failed'],
  ['550 4.1.1', reply(550, '550 4.1.1 odd'), 'failed', 'failed'],
  ['554 that speaks of 5.1.1', reply(554, '554 5.7.1 5.1.1'), 'failed', 'failed'],
  ['no connection', coded('ECONNREFUSED'), 'later', 'uncertain'],
  ['a broken connection', coded('ECONNECTION'), 'later', 'uncertain'],
  ['silence', new EgressFailure('timeout', 'late'), 'later', 'uncertain'],
  ['a flood', new EgressFailure('too_large', 'much'), 'later', 'uncertain'],
  ['a name without an address', new EgressFailure('unreachable', 'none'), 'later', 'uncertain'],
  ['an address that may not be dialled', new EgressFailure('refused', 'inward'), 'failed', 'uncertain'],
  ['TLS that fails', coded('ETLS'), 'later', 'uncertain'],
  ['no way to sign in', coded('EAUTH'), 'later', 'uncertain'],
  ['EHLO and HELO that are refused', { ...reply(554, '554 5.7.1 rejected'), code: 'EPROTOCOL', command: 'HELO' }, 'later', 'failed'],
  ['no credentials', coded('ENOAUTH'), 'later', 'uncertain'],
  ['STARTTLS that is refused', { ...reply(502, '502 5.5.1 no'), code: 'ETLS', command: 'STARTTLS' }, 'later', 'failed'],
  ['an address that cannot be sent', coded('EENVELOPE'), 'failed', 'uncertain'],
  ['a worker that stops', undefined, 'later', 'uncertain'],
] as const)
  test(`outcome: ${what} is ${before} before the server has the mail, and ${after} after`, (t) => {
    const said = (handedOver: boolean) => {
      const outcome = classifyFailure(error, true, handedOver)
      return outcome.kind === 'final' ? outcome.status : outcome.kind
    }
    t.deepEqual([said(false), said(true)], [before, after])
  })

for (const [what, error, unnamed, named] of [
  ['no connection', coded('ECONNREFUSED'), true, false],
  ['a greeting of 554', { ...reply(554, '554 no'), command: 'CONN' }, true, true],
  ['421', reply(421, '421 closing'), true, true],
  ['451', reply(451, '451 later'), true, false],
  ['a refused sign-in', coded('EAUTH'), true, true],
] as const)
  test(`outcome: ${what} means that the server is away: ${unnamed} before a mail is named, ${named} after`, (t) => {
    const isAway = (isNamed: boolean) => {
      const outcome = classifyFailure(error, isNamed, false)
      return outcome.kind === 'later' && outcome.isAway
    }
    t.deepEqual([isAway(false), isAway(true)], [unnamed, named])
  })
