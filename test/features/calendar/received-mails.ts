import ICAL from 'ical.js'
import { mailsTo } from '#test/support/mailbox.ts'
import type { World } from '#test/support/world.ts'

/** A mail of an event, as text and as iCalendar. */
export interface ReceivedMail {
  readonly method: string
  readonly sequence: number
  readonly uid: string
  readonly text: string
  readonly subject: string
  readonly ics: ICAL.Component
  readonly replyTo: string | undefined
  /** Headers by their names in small letters. */
  readonly headers: ReadonlyMap<string, string>
}

/** The mails of events to an address, oldest first. */
export async function receivedMails(w: World, address: string): Promise<ReceivedMail[]> {
  await w.drain()
  const mails = await mailsTo(w, address)
  const read = mails.map(({ attachments, subject = '', text = '', replyTo, headers: all }) => {
    const [calendar] = attachments.filter(({ mimeType }) => mimeType === 'text/calendar')
    const content = new TextDecoder().decode(calendar?.content as ArrayBuffer)
    const ics = new ICAL.Component(ICAL.parse(content))
    const event = ics.getFirstSubcomponent('vevent') as ICAL.Component
    const number = Number(event.getFirstPropertyValue('sequence'))
    const method = String(ics.getFirstPropertyValue('method'))
    const headers = new Map(all.map(({ key, value }) => [key, value]))
    return {
      headers,
      method,
      sequence: number,
      uid: String(event.getFirstPropertyValue('uid')),
      text,
      subject,
      ics,
      replyTo: replyTo?.[0]?.address,
    }
  })
  return read.sort((a, b) => Date.parse(stampOf(a.ics)) - Date.parse(stampOf(b.ics)))
}
const stampOf = (ics: ICAL.Component) => String(ics.getFirstSubcomponent('vevent')?.getFirstPropertyValue('dtstamp'))
/** Mails in short, such as `REQUEST 1`. */
export const shape = (mails: readonly ReceivedMail[]) => mails.map(({ method, sequence }) => `${method} ${sequence}`)
