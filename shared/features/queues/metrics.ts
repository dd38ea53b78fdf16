import { Counter } from 'prom-client'

/** Counters of this process, which its registry takes up: what stations claim, and whose claims ran out. */
export const claimCounter = new Counter({
  name: 'kontor_queue_claims_total',
  help: 'Items of work queues that were claimed',
  registers: [],
})

export const claimExpiryCounter = new Counter({
  name: 'kontor_queue_leases_expired_total',
  help: 'Claims of items that ran out, counted when the item is claimed again',
  registers: [],
})

/** All of them. */
export const queueCounters = [claimCounter, claimExpiryCounter] as const
