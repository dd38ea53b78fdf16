import test from 'ava'
import { retryWhileRecovering } from '#shared/platform/db/pool/retry-while-recovering.ts'

const refusing = (times: number, code: string) => {
  let asked = 0
  return async () => {
    asked += 1
    if (asked <= times) throw Object.assign(new Error('refused'), { code })
    return asked
  }
}

test('recovering: a database in recovery is asked again until it accepts the connection', async (t) => {
  t.is(await retryWhileRecovering(refusing(3, '57P03')), 4)
})

test('recovering: a connection that is refused for another reason fails at once', async (t) => {
  for (const code of ['28P01', '53300', 'ECONNREFUSED']) {
    const connect = refusing(1, code)
    await t.throwsAsync(retryWhileRecovering(connect), { code })
    t.is(await connect(), 2, 'it was asked once')
  }
})
