import { crc32, deflateSync } from 'node:zlib'
import type { Client } from '#test/support/client.ts'
import { made } from '#test/support/made.ts'

/** Gives a workspace a logo, as its owner. */
export async function makeLogo(owner: Client, path: string): Promise<void> {
  await made(owner.put(`${path}/assets/logo.png`, pngFile(), { 'content-type': 'image/png' }))
  await made(owner.patch(path, { logo: 'logo.png' }))
}

function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  size.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(named))
  return Buffer.concat([size, named, sum])
}

/** A PNG file of one colour, three times as wide as high. */
export function pngFile(width = 240, height = 80, [red, green, blue] = [11, 122, 85]): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 2], 8)
  const line = Buffer.from([0, ...Array.from({ length: width }, () => [red ?? 0, green ?? 0, blue ?? 0]).flat()])
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  const lines = Buffer.concat(Array.from({ length: height }, () => line))
  return Buffer.concat([signature, chunk('IHDR', head), chunk('IDAT', deflateSync(lines)), chunk('IEND', Buffer.alloc(0))])
}
