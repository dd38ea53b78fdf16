// Loaded before a process, by NODE_OPTIONS: its system clock is wrong by CLOCK_HOURS, which it takes by turns, each for CLOCK_TURN_MS, for as
// long as it lives. The clock by which time spans are measured goes right, as the system's own does.

const hours = (process.env.CLOCK_HOURS ?? '0').split(',').map(Number)
const turnMs = Number(process.env.CLOCK_TURN_MS ?? 1_000)
const Right = Date

const wrongNow = () => Right.now() + (hours[Math.floor(performance.now() / turnMs) % hours.length] ?? 0) * 3_600_000

globalThis.Date = class extends Right {
  constructor(...given) {
    super(...(given.length === 0 ? [wrongNow()] : given))
  }

  static now() {
    return wrongNow()
  }
}
