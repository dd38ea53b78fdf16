import { Socket } from 'node:net'
import type { DialTarget, Network } from '#shared/platform/egress/network.ts'

/** A stand-in for the outside: names are what a test says, nothing is dialled, and what would have been is written down. */
export interface StandIn extends Network {
  readonly dialled: DialTarget[]
  /** How often each name was asked for. */
  readonly asked: string[]
}

/** Answers each name with the next of its lists, and with the last one ever after; a name that it does not know has no address. */
export function standIn(names: Readonly<Record<string, readonly (readonly string[])[]>> = {}): StandIn {
  const dialled: DialTarget[] = []
  const asked: string[] = []
  const answer = async (name: string): Promise<readonly string[]> => {
    const lists = names[name] ?? names['*'] ?? [[]]
    const turn = asked.filter((other) => other === name).length
    asked.push(name)
    return lists[Math.min(turn, lists.length - 1)] ?? []
  }
  return {
    dialled,
    asked,
    resolve: answer,
    resolveLocally: answer,
    connect(target) {
      dialled.push(target)
      const socket = new Socket()
      process.nextTick(() => socket.destroy(new Error('a stand-in connects to nothing')))
      return socket
    },
  }
}
