import { Socket } from 'node:net'
import type { DialTarget, Network } from '#shared/platform/egress/network.ts'

/** A stand-in for the network: names resolve as a test says, no connection is opened, and the addresses are recorded. */
export interface StandIn extends Network {
  readonly dialled: DialTarget[]
  /** The number of lookups of each name. */
  readonly asked: string[]
}

/** Resolves each name to the next of its lists, and then always to the last; an unknown name has no address. */
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
