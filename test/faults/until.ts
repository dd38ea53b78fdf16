import { setTimeout as delay } from 'node:timers/promises'

/** Waits until a condition holds. Only the time of the case bounds it. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await delay(50)
}
