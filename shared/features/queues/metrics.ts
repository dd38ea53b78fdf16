import { Counter } from 'prom-client'

/** Counters of claims and expired claims in this process; its registry adds them. */
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

/** All counters of queues. */
export const queueCounters = [claimCounter, claimExpiryCounter] as const
