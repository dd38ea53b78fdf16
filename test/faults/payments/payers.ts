import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { hangMs } from '#test/faults/measure.ts'
import type { Site } from '#test/faults/site.ts'
import { fromAnywhere } from '#test/support/account.ts'
import { Client } from '#test/support/client.ts'
import type { Answer } from '#test/support/send-request.ts'

/** The confirmations and failures of all payers. */
export interface Paid {
  /** Links that a page showed as paid. */
  readonly links: Set<string>
  /** Requests that failed or got no response, and were repeated. */
  failed: number
  hung: number
  slowestMs: number
  readonly wrong: string[]
}

export const nothingPaid = (): Paid => ({ links: new Set(), failed: 0, hung: 0, slowestMs: 0, wrong: [] })

/**
 * Creates links and pays each, one after the other, until the end. A request without a response is repeated at the next API: a creation
 * with its Idempotency-Key, a payment by opening the page again. Each request is timed alone, so the client repeats none.
 */
export async function payUntil(isOver: () => boolean, site: Site, connectionId: string, paid: Paid): Promise<void> {
  const { org, apis } = site
  let turn = Math.floor(Math.random() * apis.length)
  const ask = async (send: (root: string) => Promise<Answer>): Promise<Answer> => {
    for (;;) {
      const began = performance.now()
      const answer = await send(apis[turn++ % apis.length]?.root ?? '').catch(() => undefined)
      const ms = performance.now() - began
      paid.slowestMs = Math.max(paid.slowestMs, ms)
      if (ms > hangMs) paid.hung += 1
      if (answer && answer.status < 500) return answer
      paid.failed += 1
      await delay(50)
    }
  }
  while (!isOver() && paid.wrong.length === 0) {
    const key = { 'Idempotency-Key': randomUUID() }
    const body = { connection_id: connectionId, amount: '12.50', currency: 'USD' }
    const made = await ask((root) => new Client(root, org.owner.token).withoutRetries().post(`${org.path}/payments/links`, body, key))
    if (made.status !== 201) paid.wrong.push(`a link was refused: ${made.status} ${made.text}`)
    else await pay(ask, org.id, made.data.id, paid)
  }
}

async function pay(ask: (send: (root: string) => Promise<Answer>) => Promise<Answer>, orgId: string, linkId: string, paid: Paid) {
  const path = `/pay/${orgId}/${linkId}`
  // Each payer has an address, for pages of payments count the requests of one.
  const address = fromAnywhere()
  for (;;) {
    const page = await ask((root) => new Client(root, null).withoutRetries().get(path, address))
    const formToken = /name="form_token" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
    const form = new URLSearchParams({ form_token: formToken, action: 'pay', name: 'Pia Payer', email: '' }).toString()
    const headers = { ...address, 'content-type': 'application/x-www-form-urlencoded' }
    const after = formToken === '' ? page : await ask((root) => new Client(root, null).withoutRetries().post(path, form, headers))
    if (/payment has been made/.test(after.text)) return void paid.links.add(linkId)
    if (after.status !== 200) return void paid.wrong.push(`a payer was refused: ${after.status} ${after.text}`)
  }
}
