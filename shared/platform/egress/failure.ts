/**
 * Why an outgoing call failed. `refused`: it may not be dialled or sent, and a retry does not help. `timeout`: its deadline passed.
 * `too_large`: the answer exceeded the allowed bytes. `unreachable`: resolving or connecting failed, or the connection broke. `held`: this
 * installation calls nobody, because it is a restored copy.
 */
type EgressReason = 'refused' | 'timeout' | 'too_large' | 'unreachable' | 'held'

/** Error of outgoing calls. The message may be shown to the user who gave the address; it contains nothing that they did not send. */
export class EgressFailure extends Error {
  readonly reason: EgressReason

  constructor(reason: EgressReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.reason = reason
  }
}
