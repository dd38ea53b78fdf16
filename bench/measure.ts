import type { Case, Side } from '#bench/case.ts'
import type { Row } from '#bench/table.ts'

/** Measures a case: floor and Kontor in alternation, so that other load on the machine affects both. Returns the medians. */
export async function measure(name: string, one: Case, rounds: number): Promise<Row> {
  const [floors, kontors]: [Side[], Side[]] = [[], []]
  for (let round = 0; round < (one.rounds ?? rounds); round++) {
    if (one.floor) floors.push(await one.floor())
    kontors.push(await one.kontor())
  }
  const compares = one.compares ?? 'amount'
  const ratios = kontors.map((kontor, round) => (kontor[compares] ?? Number.NaN) / (floors[round]?.[compares] ?? Number.NaN))
  return { name, case: one, floor: medians(floors), kontor: medians(kontors), ratio: median(ratios) ?? Number.NaN }
}

const keys = ['amount', 'p50Ms', 'p95Ms', 'p99Ms', 'slowestMs', 'failed', 'healthMs'] as const

function medians(sides: readonly Side[]): Side {
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = median(sides.flatMap((side) => side[key] ?? []))
      return value === undefined ? [] : [[key, value]]
    }),
  )
}

/** The median, the upper one of an even number; undefined for no figures. */
function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)]
}
