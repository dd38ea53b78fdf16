import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import test from 'ava'
import ipaddr from 'ipaddr.js'
import { isPublicAddress } from '#shared/platform/egress/dialer.ts'

interface Ranges {
  readonly ipv4: Readonly<Record<string, readonly string[]>>
  readonly ipv6: Readonly<Record<string, readonly string[]>>
}
const ranges = JSON.parse(readFileSync('test/fixtures/ssrf/special-ranges.json', 'utf8')) as Ranges
const blocks = [...Object.values(ranges.ipv4), ...Object.values(ranges.ipv6)].flat()

/** First, middle and last address of a block. */
function edges(block: string): string[] {
  const [address, bits] = ipaddr.parseCIDR(block)
  const bytes = address.toByteArray()
  const filled = (middle: boolean): string => {
    const out = bytes.map((byte, at) => {
      const free = Math.min(8, Math.max(0, (at + 1) * 8 - bits))
      const first = free > 0 && at * 8 <= bits
      return byte | (middle && first ? 2 ** free / 2 - 1 : 2 ** free - 1)
    })
    return ipaddr.fromByteArray(out).toString()
  }
  return [address.toString(), filled(true), filled(false)]
}

test('addresses: the first, middle and last address of every special block is refused', (t) => {
  t.is(blocks.length, 43)
  for (const block of blocks) for (const address of edges(block)) t.false(isPublicAddress(address), `${address} of ${block}`)
})

for (const [address, expected] of [
  ['8.8.8.8', true],
  ['2606:4700:4700::1111', true],
  ['::ffff:8.8.8.8', true],
  ['::ffff:127.0.0.1', false],
  ['::7f00:1', false],
  ['::808:808', false],
  ['168.63.129.16', false],
  ['::ffff:168.63.129.16', false],
  ['168.63.129.17', true],
  ['64:ff9b::808:808', false],
  ['2002:808:808::', false],
  ['fd00:ec2::254', false],
  ['not an address', false],
  ['', false],
] as const)
  test(`addresses: ${address || 'nothing'} is ${expected ? 'public' : 'not public'}`, (t) => t.is(isPublicAddress(address), expected))

test('addresses: no address of this machine is public', (t) => {
  for (const list of Object.values(networkInterfaces())) {
    for (const { address } of list ?? []) t.false(isPublicAddress(address.replace(/%.*/, '')), address)
  }
})
