import test from 'ava'
import { connect, makeLink, paymentsOf } from '#test/features/payments/place.ts'
import { startRazorpay } from '#test/features/payments/razorpay-stand-in.ts'
import { readWholeDatabase } from '#test/features/payments/rows.ts'
import { startStripe } from '#test/features/payments/stripe-stand-in.ts'
import { Client } from '#test/support/client.ts'
import { eventually } from '#test/support/eventually.ts'
import { createMember } from '#test/support/factories.ts'
import { listening } from '#test/support/listening.ts'
import { startProcess } from '#test/support/process.ts'
import { world } from '#test/support/world.ts'

test('secrets: no secret of a connection is in an answer, a log line, a job, the audit, an export or the database', async (t) => {
  const [stripe, razorpay] = [await startStripe(), await startRazorpay()]
  t.teardown(stripe.close)
  t.teardown(razorpay.close)
  const environment = { STRIPE_API_URL: stripe.url, RAZORPAY_API_URL: razorpay.url, LOG_LEVEL: 'trace' }
  const w = await world({ ...environment, LOG_LEVEL: 'silent' }, ['data', 'mail', 'schedule'])
  t.teardown(w.close)
  const logged: string[] = []
  const { PORT, PUBLIC_URL } = await listening()
  for (const name of ['api', 'flows']) {
    const { stdout } = await startProcess(t, w, name, { ...environment, PORT: PORT ?? '', PUBLIC_URL: PUBLIC_URL ?? '' })
    stdout.on('data', (chunk) => logged.push(String(chunk)))
  }
  const visitor = new Client(PUBLIC_URL ?? '', null)
  await eventually(() => logged.some((line) => line.includes('api ready')))
  const account = stripe.account()
  const owner = visitor.as(w.org.owner.token)
  const org = { ...w.org, owner }
  const secrets = [...Object.values(account.credentials), ...Object.values(razorpay.credentials), 'sk_live_refused', 'whsec_replaced']
  const answers: string[] = []
  const keep = async (answer: Promise<{ text: string; headers: Headers }>) => {
    const { text, headers } = await answer
    answers.push(text, JSON.stringify([...headers]))
  }
  const [one, other] = [await connect(org, 'stripe', account.credentials), await connect(org, 'razorpay', razorpay.credentials)]
  const connections = `${paymentsOf(org)}/connections`
  const bad = await connect(org, 'stripe', { secret_key: 'sk_live_refused', webhook_secret: 'whsec_replaced' })
  for (const id of [one, other, bad]) {
    await keep(owner.post(`${connections}/${id}/test`))
    await keep(owner.get(`${connections}/${id}`))
    await keep(owner.patch(`${connections}/${id}`, { name: 'Changed' }, { 'Idempotency-Key': id }))
  }
  await keep(
    owner.post(
      connections,
      { provider: 'stripe', name: 'Kept', mode: 'test', credentials: account.credentials },
      { 'Idempotency-Key': 'a' },
    ),
  )
  await keep(owner.post(`${paymentsOf(org)}/links`, { connection_id: bad, amount: 1 }))
  const links = [await makeLink(org, one), await makeLink(org, other, { currency: 'INR' })]
  account.fault.when = 'before'
  await keep(owner.post(`${paymentsOf(org)}/links/${links[0].id}/refresh`))
  account.fault.when = 'never'
  const session = account.open(account.things.links.at(-1)?.id ?? '')
  await keep(account.deliver(visitor, one, account.pay(session).completed))
  await keep(account.deliver(visitor, one, account.pay(session).completed, { secret: 'wrong' }))
  for (const { id } of links) {
    await keep(owner.post(`${paymentsOf(org)}/links/${id}/refresh`))
    await keep(owner.get(`${paymentsOf(org)}/links/${id}/timeline`))
  }
  const { client: reader } = await createMember(w, w.org, [{ effect: 'allow', actions: ['payments:read', 'audit:read'] }])
  for (const path of ['/connections', '/links', '/overview', '/reconcile']) await keep(owner.get(paymentsOf(org) + path))
  await keep(reader.get(`${org.path}/audit`))
  for (const type of ['payments', 'invoices']) await keep(owner.get(`${org.path}/records/${type}/export`))
  const everything = { answers: answers.join('\n'), logs: logged.join('\n'), stored: await readWholeDatabase(w.db) }
  t.true(everything.logs.length > 500 && everything.answers.length > 2_000, 'there is something to look through')
  for (const secret of secrets) {
    const spelled = [secret, Buffer.from(secret).toString('base64').slice(0, -3), Buffer.from(secret).toString('hex')]
    for (const [where, text] of Object.entries(everything))
      for (const spelling of spelled) t.false(text.includes(spelling), `${where}: ${secret}`)
  }
})
