import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import PostalMime, { type Email } from 'postal-mime'
import type { World } from '#test/support/world.ts'

/** The mails that were sent to an address, in any letter case, in the order of their creation, without one that is being written. */
export async function mailsTo({ config }: Pick<World, 'config'>, address: string): Promise<Email[]> {
  const folder = join(config.dataDir, 'mail')
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.eml'))
  const mails = await Promise.all(names.sort().map(async (name) => PostalMime.parse(await readFile(join(folder, name)))))
  return mails.filter(({ to }) => to?.some((one) => one.address?.toLowerCase() === address.toLowerCase()))
}

/** The token on its own line in the newest mail to an address. */
export async function mailedToken(world: Pick<World, 'config' | 'drain'>, address: string): Promise<string> {
  await world.drain()
  const [, token] = /^([0-9A-Za-z]{43})$/m.exec((await mailsTo(world, address)).at(-1)?.text ?? '') ?? []
  if (!token) throw new Error(`No token was mailed to ${address}`)
  return token
}
